"""The errors a user may see: what went wrong, where, and the cure. Knows nothing else of the project."""


class KbError(Exception):
    """An error meant for the user.

    ``code`` is stable and machine-readable, ``where`` a file, source, record or setting, ``cure`` one
    sentence that says what to do.
    """

    code = "error"

    def __init__(self, what: str, *, where: str = "", cure: str = "", code: str | None = None) -> None:
        self.what, self.where, self.cure = what, where, cure
        self.code = code or type(self).code
        super().__init__(str(self))

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        return f"{text} {self.cure}".rstrip() if self.cure else text

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.what, self.where, self.cure, self.code))


def _rebuild(kind: type[KbError], what: str, where: str, cure: str, code: str) -> KbError:
    return kind(what, where=where, cure=cure, code=code)


class SettingsError(KbError):
    """``sources.yaml``, ``taxonomy.yaml`` or an environment variable is wrong; ``mistakes`` lists them all."""

    code = "settings"

    def __init__(
        self, what: str, *, where: str = "", cure: str = "", code: str | None = None, mistakes: tuple[str, ...] = ()
    ) -> None:
        self.mistakes = mistakes
        super().__init__(what, where=where, cure=cure, code=code)

    def __str__(self) -> str:
        return "\n".join(self.mistakes) if self.mistakes else super().__str__()


class SourceUnavailable(KbError):
    """A whole source cannot be read now: its last good documents stay."""

    code = "source-unavailable"


class PageGone(SourceUnavailable):
    """The server says that this page no longer exists (404 or 410): what was made of it may go."""

    code = "page-gone"


class ConversionError(KbError):
    """One document cannot be converted: it is quarantined with this reason."""

    code = "conversion"


UNAVAILABLE = "unavailable"
MODEL_FAILED = "model, for"
"""Begins the line of a report that tells where a model could not be asked."""


class ModelError(KbError):
    """A model's reply that cannot be used: ``code`` is ``refused``, ``cut`` (token limit), ``invalid`` (after one
    repair turn) or ``unavailable``. One record is quarantined with it; the rest goes on."""

    code = "model"


class RunStopped(KbError):
    """No model can be asked any more: the run stops, all finished work is kept, and a later one goes on from there."""

    code = "stopped"

    @classmethod
    def codes(cls) -> frozenset[str]:
        """The codes of all such errors."""
        return frozenset({cls.code, *(kind.code for kind in cls.__subclasses__())})


class EndpointUnusable(RunStopped):
    """The endpoint answers nobody: it is down, knows neither key nor model, or its quota is spent."""

    code = "endpoint"


class BudgetSpent(RunStopped):
    """The next call could exceed the budget."""

    code = "budget"


def is_passing(error: Exception) -> bool:
    """Whether asking again, later, may help: nobody was reached, or there was no money."""
    return isinstance(error, RunStopped) or (isinstance(error, ModelError) and error.code == UNAVAILABLE)


class StoreError(KbError):
    """The knowledge base on disk cannot be read or written."""

    code = "store"


class Busy(KbError):
    """Another build holds the lease."""

    code = "busy"


class NotFound(KbError):
    """No item, document or generation of that name."""

    code = "not-found"
