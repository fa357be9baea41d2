"""The verbs of access: tokens, whom a token stands for, what was asked. Decides who may what; shows no knowledge."""

import hashlib
import hmac
import secrets
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cached_property

from kb_pipeline.api.session import Session
from kb_pipeline.errors import KbError, NotFound
from kb_pipeline.records import Principal, Query, Role, Token, Usage
from kb_pipeline.store.access import QueryLog, TokenFile

ROLES: tuple[Role, ...] = ("reader", "editor", "admin")
"""Each may do all that those before it may: ask; edit and review; everything else."""

TYPING = "typing"
"""The verb of a query that was still being typed: logged, but no question that wants an answer."""
_MARK = "kb_"
_SLOW_MS = 1_000.0
_SHOWN = 20


class Forbidden(KbError):
    """Known, but not allowed to do this."""

    code = "forbidden"


class Unknown(KbError):
    """No token, or one that is none."""

    code = "unauthorized"


class Admitting(Session):
    """Letting people, agents and automations in, and knowing afterwards what they asked."""

    @cached_property
    def _tokens(self) -> TokenFile:
        return TokenFile(self.kb.folder)

    @cached_property
    def _queries(self) -> QueryLog:
        return QueryLog(self.kb.folder)

    def tokens(self) -> list[Token]:
        """All tokens, by name; what they are is known to their bearers alone."""
        return list(self._tokens.read())

    def add_token(self, name: str, role: Role, projects: tuple[str, ...] = ()) -> str:
        """A new token, told this once: 32 random bytes, so that a plain SHA-256 keeps it safe at rest.

        ``projects`` are those it sees, the first by default; none means all. Raises ``NotFound`` for a project that is
        none, ``KbError`` (code ``usage``) for a name that is taken.
        """
        known = [p.id for p in self.settings.projects]
        for project in projects:
            if project not in known:
                cure = f"Known projects: {', '.join(known) or 'none'}."
                raise NotFound(f"there is no project '{project}'.", where="sources.yaml", cure=cure)
        held = self._tokens.read()
        if not name.strip() or any(token.name == name for token in held):
            what = f"there is a token '{name}' already." if name.strip() else "a token needs a name."
            raise KbError(what, where="kb token", cure="Choose another name, or revoke it first.", code="usage")
        secret = _MARK + secrets.token_urlsafe(32)
        at = _stamp(self.world.clock.now())
        fresh = Token(name=name, sha256=_hashed(secret), role=role, projects=projects, created_at=at)
        self._tokens.write([*held, fresh])
        return secret

    def revoke_token(self, name: str) -> None:
        """Shut a token out, from its next request on. Raises ``NotFound`` where there is none of that name."""
        held = self._tokens.read()
        if not any(token.name == name for token in held):
            known = ", ".join(token.name for token in held) or "none"
            raise NotFound(f"there is no token '{name}'.", where="kb token", cure=f"Known tokens: {known}.")
        self._tokens.write([token for token in held if token.name != name])

    def admit(self, secret: str) -> Principal:
        """Whom a token stands for. Raises ``Unknown`` for what is no token; every known one is compared, so that the
        time tells nothing."""
        sought, found = _hashed(secret), None
        for token in self._tokens.read():
            if hmac.compare_digest(token.sha256, sought):
                found = token
        if found is None:
            raise Unknown("this token is not known.", where="Authorization", cure="Ask for one: kb token add NAME.")
        return Principal(name=found.name, role=found.role, projects=found.projects)

    def record(self, query: Query) -> None:
        """Keep what was asked, without the text of the question where settings keep it out."""
        options = self.settings.options
        kept = query if options.audit_questions else query.model_copy(update={"question": None})
        self._queries.append(kept.model_copy(update={"at": _stamp(self.world.clock.now())}), options.audit_days)

    def usage(self, days: int = 30) -> Usage:
        """What was asked in the last ``days`` days: by day and kind of user, project and user; what had no answer, and
        what took longer than a second."""
        first = (self.world.clock.now() - timedelta(days=days - 1)).date().isoformat()
        queries = [query for query in self._queries.since(first) if query.verb != TYPING]
        by_day: dict[str, Counter[str]] = {}
        for query in queries:
            by_day.setdefault(query.at[:10], Counter())[query.kind] += 1
        return Usage(
            since=first,
            queries=len(queries),
            days={day: dict(counts) for day, counts in by_day.items()},
            projects=_counted(queries, lambda q: q.project or "all"),
            users=_counted(queries, lambda q: q.who),
            unanswered=tuple([q for q in reversed(queries) if q.answered is False][:_SHOWN]),
            slow=tuple(sorted((q for q in queries if q.ms > _SLOW_MS), key=lambda q: -q.ms)[:_SHOWN]),
        )


def allowed(principal: Principal, role: Role) -> None:
    """Raise ``Forbidden`` where ``principal`` has less than ``role``."""
    if ROLES.index(principal.role) < ROLES.index(role):
        cure = f"Ask for a token with the role {role}."
        raise Forbidden(f"'{principal.name}' is a {principal.role} and may not do this.", where="role", cure=cure)


def _counted(queries: list[Query], by: Callable[[Query], str]) -> dict[str, int]:
    return dict(Counter(map(by, queries)).most_common())


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
