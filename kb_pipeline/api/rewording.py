"""The verbs of one who rewords: a page of the wiki opened and written, an item changed by field, nobody overwritten.

What is written counts as a person's edit of the file, with all that follows from that: the next build merges it with
what the machine says then. Owns that words go where the writer saw them, and nowhere else: whoever was first keeps his.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kb_pipeline.api.comparing import Comparing
from kb_pipeline.errors import KbError, NotFound
from kb_pipeline.records import Item, PageBrief, PageDraft, PageWords
from kb_pipeline.rules import ids
from kb_pipeline.rules.pages.drafting import tidy, with_words, words_in
from kb_pipeline.rules.pages.neighbourhood import hidden
from kb_pipeline.store.files import file_hash, write_all
from kb_pipeline.store.guarded import Guard, look


class Outdated(KbError):
    """Somebody changed it since it was opened; nothing was written."""

    code = "outdated"


class Rewording(Comparing):
    """Editing as in an editor on the file, for faces that have none."""

    def page_draft(self, name: str) -> PageDraft:
        """A page opened for editing. Raises as ``page``."""
        brief = self.page(name).brief
        path = self._path_of(brief)
        data = self.kb.bytes_of(path.relative_to(self.kb.folder).as_posix())
        text = data.decode()
        words = words_in(text, self._hidden(brief, text))
        return PageDraft(id=brief.id, title=brief.title, path=brief.path, words=words, loaded=file_hash(data))

    def write_page(self, name: str, words: PageWords, loaded: str) -> bool:
        """Write a page as a person's edit of its file; whether that changed a byte. ``loaded`` is that of the draft.

        Raises ``Outdated`` where the file is no longer the one that was opened, ``KbError`` (code ``usage``) for a page
        that says nothing.
        """
        words = words.model_copy(update={"body": tidy(words.body)})
        if not words.body.strip():
            cure = "Take out sentences one by one; to be rid of all it says, delete its sources or retire its items."
            raise KbError("a page must say something.", where="body", cure=cure, code="usage")
        brief = self.page(name).brief
        path = self._path_of(brief)
        with self.kb.locked():
            data, seen = look(str(path))
            if data is None or file_hash(data) != loaded:
                raise _outdated(brief.title)
            text = data.decode()
            written = with_words(text, words, self._hidden(brief, text)).encode("utf-8", "replace")
            if written == data:
                return False
            guard = Guard({str(path): seen})
            write_all(path.parent, {path.name: written}, place=guard.place)
            guard.finish()
            if guard.refused:
                raise _outdated(brief.title)
        return True

    def item_draft(self, item_id: str) -> tuple[Item, str]:
        """An item opened for editing, and what tells it from a later one. Raises ``NotFound``."""
        entry = self.kb.manifest("tags").get(item_id)
        if entry is None:
            raise NotFound(f"there is no item '{item_id}'.", where="items", cure="Find one with a search.")
        (item,) = self.kb.read("tags", entry)
        assert isinstance(item, Item)
        return item, _version(item)

    def reword_item(self, item_id: str, fields: Mapping[str, Any], loaded: str) -> Item:
        """Change fields of an item as ``edit`` does, unless it is no longer the one that was opened: then ``Outdated``
        is raised."""
        with self.kb.locked():
            if self.item_draft(item_id)[1] != loaded:
                raise _outdated(item_id)
            return self.edit(item_id, fields)

    def _path_of(self, brief: PageBrief) -> Path:
        entry, _ = self._standing(brief)
        return self.kb.folder / min(entry.outputs)

    def _hidden(self, brief: PageBrief, text: str) -> list[str]:
        """The lines of a page that name pages which may not be seen."""
        return [] if self.sees is None else hidden(text, brief.path, self._planned(self.pages()))


def _version(item: Item) -> str:
    return ids.digest(item.model_dump_json())


def _outdated(what: str) -> Outdated:
    cure = "Your words are kept below: look at what stands there now, then save again."
    return Outdated(f"'{what}' was changed by somebody else since you opened it.", where="edit", cure=cure)
