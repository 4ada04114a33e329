"""Whose fields the settings are: classes of which the run has objects, and those of which it has none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from trainsleuth.facts import Class

from ...drawing.statements import enclosing, is_class_body
from ...program import Program
from ..records import Key
from .fields import of_class
from .loaded_configs import is_default_of, loaded_configs
from .named_by_chosen import named_by_chosen
from .parsed import filled
from .whole import family, whole, with_parts


class Owners:
    """Classes of settings of one program, asked for by the keys that are their fields."""

    def __init__(self, program: Program, keys: Sequence[Key]) -> None:
        self.program = program
        self._keys = keys
        self._others: dict[str, bool] = {}  # by the name of a key: is_of_another

    @cached_property
    def parsed(self) -> tuple[Class, ...]:
        """The classes of settings that the program's parser fills."""
        return filled(self.program)

    @cached_property
    def made(self) -> frozenset[Class]:
        """Classes of which the run has objects, as far as that is seen, with their bases."""
        program = self.program
        hooked = program.training.framework is not None  # it runs what nobody calls
        at = (cls for cls, made in program.made_at.items() if hooked or any(one in program.run for one, _ in made))
        sure = (*self.parsed, *program.values.objects.made, *self.whole, *self.of_chosen)
        alike = family(program.index, self.whole)
        found = (cls for cls in (*at, *self._filled) if alike.isdisjoint(program.index.lineage(cls)))
        made = {base for cls in (*sure, *found) for base in program.index.lineage(cls)}
        return frozenset(made | (with_parts(program.index, made) & self._holders))

    @cached_property
    def of_chosen(self) -> frozenset[Class]:
        """Classes of settings that a class which the recipe or the command chooses names as its own."""
        return frozenset(named_by_chosen(self.program))

    @cached_property
    def whole(self) -> frozenset[Class]:
        """The class whose fields are the sections that somebody sets, and the classes in it; none where none is."""
        given = (key.name for key in self._keys if any(one.how in ("file", "command") for one in key.layers))
        sections = frozenset(name.partition(".")[0] for name in given if "." in name)
        files = sorted(self.program.entry.reach.files) if self.program.told else ()
        return whole(self.program.index, files, sections)

    @property
    def _filled(self) -> Iterator[Class]:
        """Classes whose fields lie in a section of which somebody sets a key, however their objects are made."""
        given = {key.name.partition(".")[0] for key in self._keys if any(one.how != "default" for one in key.layers)}
        files: dict[str, set[str]] = {}
        for key in self._keys:
            section, dot, _ = key.name.partition(".")
            cls = self.holder(key) if dot and section in given else None
            if cls is not None:
                files.setdefault(cls.path, set()).add(section)
                yield cls
        for path, sections in files.items():  # the object that holds these sections has none of their keys itself
            classes = self.program.index.files[path].classes.values()
            yield from (cls for cls in classes if any(one.name in sections for one in of_class(cls)))

    @cached_property
    def _holders(self) -> frozenset[Class]:
        held = (self.holder(key) for key in self._keys)
        return frozenset(one for one in held if one is not None)

    @cached_property
    def strangers(self) -> frozenset[Class]:
        """Classes whose fields are keys and of which the run makes no object, where it is seen to make some."""
        left = self._holders - self.made
        return left if self.program.told and len(left) < len(self._holders) else frozenset()

    @cached_property
    def _loaded(self) -> frozenset[Class]:
        return loaded_configs(self.program)

    def is_of_loaded(self, key: Key) -> bool:
        """A default in place of which a saved model brings its own value."""
        return is_default_of(self.program.index, key, self._loaded)

    def is_of_another(self, key: Key) -> bool:
        """A default of a class of which the run makes no object that is seen, or to which code gives another value."""
        if any(layer.how != "default" for layer in key.layers):
            return False
        if key.name not in self._others:
            cls, last = self.holder(key), key.name.rpartition(".")[2]
            sites = self.program.index.calls(cls.name) if cls is not None and cls not in self.parsed else ()
            given = any(site.call.keyword(last) is not None for site in sites if self.program.is_reached(site.function))
            self._others[key.name] = (cls is not None and (given or cls in self.strangers)) or self._is_handed(key)
        return self._others[key.name]

    def _is_handed(self, key: Key) -> bool:
        """The default of a constructor's parameter for which a call gives another value."""
        source, last = key.source, key.name.rpartition(".")[2]
        file = self.program.index.files.get(source.path) if source is not None else None
        init = enclosing(file, source.line) if file is not None and source is not None else None
        cls = self.program.index.class_of(init) if init is not None and init.name == "__init__" else None
        names = [one.name for one in init.parameters if one.default is not None] if init is not None else []
        if init is None or cls is None or last not in names:
            return False
        place = [one.name for one in init.parameters].index(last) - 1  # behind self
        return any(
            site.call.argument(place, last) is not None and self.program.is_reached(site.function)
            for site in self.program.index.calls(cls.name)
            if self.program.index.resolve(site.function, site.call.callee) is cls
        )

    def of_class(self, owner: Class, dotted: str, key: Key | None) -> Key | None:
        """The key that a method of `owner` means by "cfg.interval", where `key` is what anyone would: one of the sections
        that choose the class, and none of a section that chooses another.
        """
        _, _, last = dotted.rpartition(".")
        kin = {owner, *self.program.index.lineage(owner), *self.program.index.subclasses(owner)}
        own = [section for section, target in self._sections.items() if target in kin]
        found = [one for section in own if (one := self._by_name.get(f"{section}.{last}")) is not None]
        if len(found) == 1 and dotted.count(".") == 1:
            return found[0]
        section = key.name.rpartition(".")[0] if key is not None else ""
        told = section.rpartition(".")[2] in dotted.split(".")[:-1]
        return None if own and not told and self._sections.get(section, owner) not in kin else key

    @cached_property
    def _by_name(self) -> dict[str, Key]:
        return {one.name: one for one in self._keys}

    @cached_property
    def _sections(self) -> dict[str, Class]:
        """Each section with the class that it chooses: hooks.0 of hooks.0.type = "LogHook"."""
        return {
            section: one.target
            for one in self.program.choices
            if isinstance(one.target, Class) and (section := one.key.rpartition(".")[0])
        }

    def holder(self, key: Key) -> Class | None:
        """The class whose field a key is by default; None for an option of a parser and for anything else."""
        layer = key.layers[0] if key.layers else None
        file = self.program.index.files.get(layer.path) if layer is not None else None
        function = enclosing(file, layer.line) if file is not None and layer is not None else None
        if file is None or function is None or not is_class_body(file, function):
            return None
        return next((one for one in file.classes.values() if one.body is function), None)
