"""What people's hands did to the folder of items, taken up before anything is made: a file that was deleted hides its
item for good, one that was written by hand becomes a document that it quotes.

Whole files alone: what was changed within one is the commit's matter.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import cast

from kb_pipeline.errors import StoreError
from kb_pipeline.records import UNCLASSIFIED, Cluster, Document, HumanDecision, Item, Meta
from kb_pipeline.rules import ids, people, written
from kb_pipeline.rules.history import BY_HAND, Turn
from kb_pipeline.rules.taxonomy import category_folder
from kb_pipeline.rules.written import HUMAN, document_of
from kb_pipeline.runner.context import Run
from kb_pipeline.runner.fetching import hide
from kb_pipeline.runner.upstream import Upstream
from kb_pipeline.stages import PIPELINE
from kb_pipeline.stages.raw import sudden_loss
from kb_pipeline.stages.tags import stated
from kb_pipeline.store.commits import Group
from kb_pipeline.store.files import Stat, file_hash, read_bytes
from kb_pipeline.store.hands import Hands, key_of
from kb_pipeline.store.history import NOWHERE, Step, Telling
from kb_pipeline.store.manifests import Entry
from kb_pipeline.store.people import decisions, keep

_STAGE = "tags"
_FOLDER = 3  # items: where so many are all there are, and all are gone, the folder was lost
_MADE = ("normalized", "chunks", "atomic_items")


def pending(run: Run) -> bool:
    """Whether item files were added, moved or removed since the last run, or one that was written by hand changed."""
    files, before = run.files(_STAGE), run.kb.settled(_STAGE)
    if files == before:
        return False
    moved = [path for path, stat in files.items() if before.get(path) != stat]
    if any(path not in before for path in moved) or not before.keys() <= files.keys():
        return True
    if not moved:
        return False
    published, own = run.kb.manifest(_STAGE), run.kb.manifest("normalized", HUMAN)
    return any(document_of(key_of(path)) in own or key_of(path) not in published for path in moved)


def adopt(run: Run) -> None:
    """Take up what people added and removed, and bring the documents of what they wrote up to date."""
    if not pending(run) and _complete(run):
        return
    with run.kb.locked():
        adoption = _Adoption(run, run.kb.hands(_STAGE, run.files(_STAGE)))
        adoption.note_removed()
        adoption.take_added()
        adoption.tell()
        adoption.publish()


def _complete(run: Run) -> bool:
    """Whether all that is made of documents written by hand is there: in a clone their chunks and drafts are not."""
    wanted = [e.key for e in run.kb.manifest("normalized", HUMAN).live()]
    return all(run.kb.manifest(stage, HUMAN).keys() == wanted for stage in _MADE[1:])


@dataclass
class _Adoption:
    """One taking up."""

    run: Run
    hands: Hands
    said: dict[str, Item] = field(default_factory=dict)  # by id, of files that are new or changed
    gone: set[str] = field(default_factory=set)  # ids whose files a person removed
    faults: dict[str, str] = field(default_factory=dict)  # by path

    def __post_init__(self) -> None:
        self.kb = self.run.kb
        self.published = self.kb.manifest(_STAGE)
        self.own = self.kb.manifest("normalized", HUMAN)

    @cached_property
    def clusters(self) -> Mapping[str, Cluster]:
        entry = self.kb.manifest("dedup").get("clusters")
        found = cast(tuple[Cluster, ...], self.kb.read("dedup", entry)) if entry else ()
        return {cluster.id: cluster for cluster in found}

    def note_removed(self) -> None:
        """Record that a person deleted the files of items. So many at once are a loss, and made anew."""
        removed = sorted(self.hands.removed)
        if sudden_loss(len(self.published), len(removed)) or len(self.published) == len(removed) >= _FOLDER:
            self.kb.warnings.append(
                f"kb/items: {len(removed)} of {len(self.published)} files are gone at once; they are made anew. Delete "
                "fewer at a time to hide items, or run `kb edit ID --status retired`."
            )
            return
        lines = decisions(self.kb) if removed else []
        hidden = people.marks(lines)
        for key in removed:
            self.gone |= {key} if document_of(key) in self.own else set()
            if key in hidden or not self._stated_elsewhere(key):
                continue
            cluster = self.clusters.get(key)
            drafts = sorted({o.draft for o in cluster.occurrences}) if cluster else ()
            at = people.after(lines, self.run.world.clock.now())
            reason = "its file was deleted by hand"
            lines.append(HumanDecision(at=at, action="hide", items=(key,), left=tuple(drafts), reason=reason))
            self.kb.warnings.append(f"{key}: {reason}; it is hidden until `kb restore {key}`.")
        if lines:
            keep(self.kb, lines)

    def _stated_elsewhere(self, key: str) -> bool:
        """Whether an item is more than what a person wrote by hand."""
        cluster = self.clusters.get(key)
        if cluster is None:
            return document_of(key) not in self.own
        return any(o.doc_id != document_of(key) for o in cluster.occurrences)

    def take_added(self) -> None:
        """Read the files that people wrote, give each the name of its item, and note those that cannot stand."""
        for path in self._added():
            try:
                self._take(path)
            except StoreError as error:
                self.faults[path] = str(error)
        for key in self._changed():
            item = written.read(*self._file(key))
            self.said[key] = item.model_copy(update={"id": key})

    def _added(self) -> Sequence[str]:
        """New files; where the manifest was lost, those that nobody but a person can have written."""
        if len(self.published):
            return self.hands.added
        return [path for path in self.hands.added if b'"sources"' not in (read_bytes(self.kb.folder / path) or b"")]

    def _take(self, path: str) -> None:
        item = written.read(path, self.kb.bytes_of(path))
        key = key_of(path) if document_of(key_of(path)) in self.own else item.id
        if key in self.published or key in self.said:
            cure = f"Edit that one, or word this one otherwise: `kb show {key}`."
            raise StoreError(f"says what {key} says.", where=f"kb/{path}", cure=cure, code="record")
        self._rename(path, f"items/{self._folder(path, item)}/{key}.json")
        self.said[key] = item.model_copy(update={"id": key})

    def _folder(self, path: str, item: Item) -> str:
        """The folder of the category that a file states, or stands in. Raises ``StoreError`` for one that is none."""
        folders, stands = self.kb.categories, path.split("/")[1:-1]
        stated = item.primary_category
        known = ", ".join(folders.values())
        if stated != UNCLASSIFIED and stated not in folders.values():
            what = f"primary_category: '{stated}' is not a category of taxonomy.yaml."
            raise StoreError(what, where=f"kb/{path}", cure=f"Categories: {known}.", code="record")
        if stated != UNCLASSIFIED or not stands:
            return category_folder(stated)
        if len(stands) == 1 and stands[0] in folders:
            return stands[0]
        what, cure = f"'{'/'.join(stands)}' is the folder of no category.", f"Folders: {', '.join(folders)}."
        raise StoreError(what, where=f"kb/{path}", cure=cure, code="record")

    def _rename(self, path: str, target: str) -> None:
        if path == target:
            return
        there = self.kb.folder / target
        if there.exists():
            raise StoreError(f"would become kb/{target}, which is there.", where=f"kb/{path}", cure="Edit that one.")
        there.parent.mkdir(parents=True, exist_ok=True)
        (self.kb.folder / path).rename(there)
        files = {p: stat for p, stat in self.run.files(_STAGE).items() if p != path}
        self.run.trees[_STAGE] = {**files, target: _stat(there)}

    def _changed(self) -> Iterator[str]:
        """Items written by hand, and nothing else, whose file a person changed since; one that cannot be read keeps the
        document that it has."""
        for entry in self.own.live():
            key = written.item_of(entry.key)
            published = self.published.get(key)
            if key in self.gone or key in self.said or published is None or self._stated_elsewhere(key):
                continue
            path, data = self._file(key)
            known = published.edited.get(path) or published.outputs.get(path)
            if data and file_hash(data) != known and _reads(path, data):
                yield key

    def _file(self, key: str) -> tuple[str, bytes]:
        entry = self.published.get(key)
        paths = [self.hands.moved.get(key, ""), *(entry.outputs if entry else ())]
        path = next((p for p in paths if p and (self.kb.folder / p).is_file()), "")
        return path, (read_bytes(self.kb.folder / path) or b"") if path else b""

    def tell(self) -> None:
        """Keep what items written by hand said before their files were changed or removed, as long as their documents
        still tell."""
        keys = sorted((self.gone | self.said.keys()) & self.clusters.keys())
        known = {key: last_valid(self.run, self.clusters[key]) for key in keys}
        before = {key: item for key, item in known.items() if item is not None}
        gone = {key: item for key, item in before.items() if key in self.gone}
        steps = [
            Step(NOWHERE, None, Turn(old, old, written.reworded(old, self.said[key])))
            for key, old in before.items()
            if key in self.said
        ]
        if steps or gone:
            run = ids.digest(self.own.version(), *keys)[:12]
            causes = dict.fromkeys(gone, BY_HAND)
            self.kb.history.settle()
            self.kb.history.note(steps, Telling(self.run.now(), run, causes, gone))
            self.kb.history.settle()

    def publish(self) -> None:
        """Commit the documents, and what is made of them."""
        if not len(self.own) and not self.said and not self.faults:
            return
        documents = {document_of(key): self._document(item) for key, item in self.said.items()}
        gone = {document_of(key) for key in self.gone}
        live = {e.key for e in self.own.live()} | documents.keys()
        failed = {f"{HUMAN}/{path}": fault for path, fault in self.faults.items()}
        mended = [e.key for e in self.own if e.failed is not None and e.key not in failed]
        groups = [Group(key=key, records=(found,), input=found.meta.text_sha256) for key, found in documents.items()]
        groups += [Group(key=key, failed=fault) for key, fault in failed.items()]
        groups += [Group(key=key, files={}, outputs={}, info={"deleted_at": self.run.now()}) for key in gone]
        self.own = self.kb.commit("normalized", HUMAN, self.own, groups, mended).manifest
        for stage, part in (("chunks", 0), ("atomic_items", 1)):
            manifest = self.kb.manifest(stage, HUMAN)
            lacking = [key for key in sorted(live - gone) if key in documents or key not in manifest]
            made = [Group(key=key, records=(written.pieces(self._read(key))[part],)) for key in lacking]
            self.kb.commit(stage, HUMAN, manifest, made, sorted({*manifest.keys()} - (live - gone)))
        for stage in _MADE:
            version, stat = self.kb.manifest(stage, HUMAN).version(), self.run.manifest_stat(stage, HUMAN)
            self.run.keep_stamp(stage, HUMAN, {"version": version, "manifest": stat, "at": self.run.now()})
        self.kb.warnings.extend(self.faults.values())
        if gone:
            hide(self.run)

    def _document(self, item: Item) -> Document:
        entry = self.own.get(document_of(item.id))
        before = self.kb.read("meta", entry)[0] if entry and entry.live and self.kb.present(entry) else None
        return written.document(item, self.run.now(), cast(Meta | None, before))

    def _read(self, doc_id: str) -> Document:
        entry: Entry = self.own[doc_id]
        return cast(Document, self.kb.read("normalized", entry)[0])


def last_valid(run: Run, cluster: Cluster) -> Item | None:
    """An item as it was last published, whatever a person did to its file since: what its row in the live generation
    says, with the proofs of its cluster. None where it has no row."""
    with run.world.index.snapshot() as snapshot:
        rows = snapshot.rows([cluster.id])
    if not rows:
        return None
    words = {
        "statement": rows[0].text,
        "primary_category": rows[0].category,
        "tags": rows[0].tags,
        "item_type": rows[0].item_type,
        "confidence": rows[0].confidence,
        "created_at": next((event.at for event in run.kb.history.of(cluster.id)), ""),
        "updated_at": rows[0].updated_at,
    }
    return stated(cluster, Upstream(run, PIPELINE[_STAGE].needs)).model_copy(update=words)


def _reads(path: str, data: bytes) -> bool:
    try:
        written.read(path, data)
    except StoreError:
        return False
    return True


def _stat(path: Path) -> Stat:
    status = path.stat()
    return status.st_size, status.st_mtime_ns
