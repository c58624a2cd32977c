"""Arguments that a training script wants of its command line: rows that do not hang on them are made without."""
import argparse


class Absent:
    """In the place of a required one. Whatever is done with it says which it is."""

    def __init__(self, name, lost):
        self.__dict__.update(name=name, lost=lost)

    def fail(self, *_, **__):
        raise self.lost("wants `%s` of the script's command line" % self.name)

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return self.fail()

    __str__ = __repr__ = __format__ = __fspath__ = __len__ = __iter__ = __getitem__ = __bool__ = __eq__ = __int__ = fail
    __float__ = __index__ = __call__ = __add__ = __radd__ = __mul__ = __rmul__ = __mod__ = __truediv__ = __lt__ = __gt__ = fail
    __hash__ = None


def leave_out(lost):
    """Parsers ask for none that is required. @param lost the exception that says what is not here"""
    plain = argparse.ArgumentParser.parse_known_args

    def parse_known_args(self, *given, **named):
        for action in self._actions:
            if action.required and action.option_strings:
                action.required, action.default = False, Absent(action.option_strings[-1], lost)
        return plain(self, *given, **named)

    argparse.ArgumentParser.parse_known_args = parse_known_args
