/** How values go from one Python state to another: as data of exact built-in types; all else stays where it is and goes by a number. */
export const crossing = `
def _make_crossing(encode_other, decode_other):
    import collections, datetime, decimal, fractions
    type_, len_, range_, hex_, tuple_, list_, str_ = type, len, range, hex, tuple, list, str
    int_, float_, set_, frozenset_, dict_, bytes_, bytearray_, complex_, slice_, bool_ = int, float, set, frozenset, dict, bytes, bytearray, complex, slice, bool
    Counter, OrderedDict, defaultdict, deque = collections.Counter, collections.OrderedDict, collections.defaultdict, collections.deque
    Decimal, Fraction = decimal.Decimal, fractions.Fraction
    date, time_, moment, delta = datetime.date, datetime.time, datetime.datetime, datetime.timedelta
    NoneType, none_kinds = type(None), (type(None), bool, str, float)
    kinds = {"l": list, "t": tuple, "s": set, "f": frozenset}
    maps = {"d": dict, "C": Counter, "O": OrderedDict, "D": defaultdict}
    named = {one: key for key, one in kinds.items()}
    mapped = {one: key for key, one in maps.items()}
    classes = {one.__name__: one for one in (int, float, str, bool, list, dict, tuple, set, frozenset, bytes, bytearray, complex, range, type(None), Counter, OrderedDict, defaultdict, deque, Decimal, Fraction, date, time_, moment, delta)}
    class_names = {one: name for name, one in classes.items()}

    def encode(value, depth=0):
        kind = type_(value)
        if depth > 150:
            return encode_other(value)
        if kind in none_kinds:
            return value
        if kind is int_:
            return value if -(1 << 60) < value < 1 << 60 else ["i", hex_(value)]
        if kind in named:
            return [named[kind], [encode(one, depth + 1) for one in value]]
        if kind in mapped:
            return [mapped[kind], [[encode(k, depth + 1), encode(v, depth + 1)] for k, v in value.items()]]
        if kind is bytes_ or kind is bytearray_:
            return ["y" if kind is bytes_ else "Y", value.hex()]
        if kind is complex_:
            return ["c", value.real, value.imag]
        if kind is range_:
            return ["r", encode(value.start), encode(value.stop), encode(value.step)]
        if kind is slice_:
            return ["e", encode(value.start), encode(value.stop), encode(value.step)]
        if kind is deque:
            return ["q", [encode(one, depth + 1) for one in value], value.maxlen]
        if kind is Decimal:
            return ["M", str_(value)]
        if kind is Fraction:
            return ["F", encode(value.numerator), encode(value.denominator)]
        if kind is date or kind is time_ or kind is moment:
            return ["w", class_names[kind], value.isoformat()]
        if kind is delta:
            return ["W", value.days, value.seconds, value.microseconds]
        if kind is type_ and value in class_names:
            return ["n", class_names[value]]
        if value is Ellipsis or value is NotImplemented:
            return ["o", value is Ellipsis]
        return encode_other(value)

    def decode(said):
        if type_(said) is not list_:
            return said
        kind = said[0]
        if kind in kinds:
            return kinds[kind]([decode(one) for one in said[1]])
        if kind in maps:
            made = defaultdict() if kind == "D" else maps[kind]()
            for k, v in said[1]:
                made[decode(k)] = decode(v)
            return made
        if kind == "i": return int_(said[1], 16)
        if kind == "y": return bytes_.fromhex(said[1])
        if kind == "Y": return bytearray_.fromhex(said[1])
        if kind == "c": return complex_(said[1], said[2])
        if kind == "r": return range_(decode(said[1]), decode(said[2]), decode(said[3]))
        if kind == "e": return slice_(decode(said[1]), decode(said[2]), decode(said[3]))
        if kind == "q": return deque([decode(one) for one in said[1]], said[2])
        if kind == "M": return Decimal(said[1])
        if kind == "F": return Fraction(decode(said[1]), decode(said[2]))
        if kind == "w": return {"date": date, "time": time_, "datetime": moment}[said[1]].fromisoformat(said[2])
        if kind == "W": return delta(said[1], said[2], said[3])
        if kind == "n": return classes[said[1]]
        if kind == "o": return Ellipsis if said[1] else NotImplemented
        return decode_other(said)

    return encode, decode
`;
