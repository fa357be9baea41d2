// Finds pages that hold all words of the query; those with a word in the title come first.
const box = document.getElementById("search"), list = document.getElementById("hits"), up = document.body.dataset.up;
const folded = PAGES.map(([title, path, summary, words]) => [title, path, summary, title.toLowerCase(), words.toLowerCase()]);
box.addEventListener("input", () => {
  const wanted = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = !wanted.length ? [] : folded.filter((page) => wanted.every((word) => page[4].includes(word) || page[3].includes(word)));
  const inTitle = (page) => wanted.filter((word) => page[3].includes(word)).length;
  found.sort((a, b) => inTitle(b) - inTitle(a) || a[0].localeCompare(b[0]));
  list.replaceChildren(...found.slice(0, 20).map(([title, path, summary]) => {
    const line = document.createElement("li"), link = document.createElement("a");
    link.href = up + path;
    link.textContent = title;
    line.append(link, " ", summary);
    return line;
  }));
});
