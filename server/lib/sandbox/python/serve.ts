/**
 * What answers for a program in its own state, once it has run: it gives its names, calls them, and tells what came of it.
 * A program may forge what is told; that is what it returns, and what is expected is in another process.
 */
import { crossing } from "./crossing.ts";

export const serve = `
${crossing}
def _make_serve(ask, line_of):
    import operator, builtins, math
    make_crossing = _make_crossing
    dumps, loads, type_, len_, zip_, isinstance_, issubclass_, str_, hasattr_, getattr_, setattr_ = json.dumps, json.loads, type, len, zip, isinstance, issubclass, str, hasattr, getattr, setattr
    dict_get, Exception_, BaseException_, SystemExit_, NameError_, KeyError_ = dict.get, Exception, BaseException, SystemExit, NameError, KeyError
    own_builtins = {**vars(builtins)}
    def is_exception(value):
        return isinstance_(value, type_) and issubclass_(value, BaseException_)
    # What a test gives by its name.
    shared = {"builtins": own_builtins, "math": {**vars(math)}, "operator": {**vars(operator)}}
    def base_of(kind):
        for one in kind.__mro__:
            if own_builtins.get(one.__name__) is one:
                return one.__name__
        return "Exception"
    ops = {name: getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor", "lshift", "rshift", "neg", "pos", "abs", "invert", "lt", "le", "gt", "ge", "eq", "ne", "getitem", "setitem", "delitem", "contains")}
    ops |= {"iter": iter, "next": next, "len": len, "str": str, "repr": repr, "bool": bool, "int": int, "float": float, "format": format, "reversed": reversed, "index": operator.index, "round": round, "hash": hash,
        "attr": getattr, "set": setattr, "del": delattr, "isinstance": isinstance,
        "enter": lambda one: type_(one).__enter__(one), "exit": lambda one: type_(one).__exit__(one, None, None, None)}

    def serve(scope):
        held, numbers = [], {}
        def keep(value):
            number = numbers.get(id_(value))
            if number is None:
                number = numbers[id_(value)] = len_(held)
                held.append(value)
            return ["h", number, [value.__name__, [bases_of(one) for one in value.__bases__]] if is_exception(value) else None]
        def bases_of(kind):
            return keep(kind) if is_exception(kind) and own_builtins.get(kind.__name__) is not kind else kind.__name__
        encode, decode = make_crossing(keep, lambda said: held[said[1]] if said[0] == "h" else shared[said[1]][said[2]])

        def done(request):
            op = request[0]
            if op == "name":
                if request[1] not in scope:
                    return ["none"]
                return ["ok", encode(scope[request[1]])]
            if op == "call":
                target, args = decode(request[1]), [decode(one) for one in request[2]]
                value = target(*args, **{name: decode(one) for name, one in request[3]})
                after = [encode(one) for one in args]
                same = [k for k, one in enumerate_(args) if one is value and type_(one) not in plain]
                return ["ok", ["a", same[0]] if same else encode(value), [None if a == b else [a] for a, b in zip_(after, request[2])]]
            return ["ok", encode(ops[op](*[decode(one) for one in request[1]]))]

        reply = ["ready"]
        while True:
            text = ask(dumps(reply))
            if text is None:
                return
            try:
                reply = done(loads(text))
            except SystemExit_:
                raise
            except BaseException_ as error:
                try:
                    message = str_(error)
                except BaseException_:
                    message = ""
                kind = type_(error)
                is_own = own_builtins.get(kind.__name__) is not kind
                reply = ["no", base_of(kind), message, keep(kind) if is_own else None, line_of(error), encode(tuple_(error.args)), keep(error) if is_own else None]
    id_, enumerate_, tuple_, plain = id, enumerate, tuple, (type(None), bool, int, float, str)
    return serve
`;
