/**
 * What follows a program so that its test runs: the program's own lines keep their numbers. It tells by a line that begins with
 * a word which the program cannot know; without that line the test has not been passed, however the program left.
 */
import type { SandboxLanguage } from "../../../lib/sandbox/sandbox.ts";
import type { UnitTest } from "./tests.ts";

type Driven = Exclude<UnitTest, { kind: "printed" }>;

const python = (test: Driven, word: string): string => {
  const tell = (value: string): string =>
    `__import__("sys").__stdout__.write("\\n" + ${JSON.stringify(word)} + ${value} + "\\n"); __import__("sys").__stdout__.flush()`;
  if (test.kind === "asserted") return `\n${test.code}\n${tell('""')}\n`;
  const name = test.name;
  return `
def __gradus_call__():
    import json
    scope = globals()
    call = scope.get(${JSON.stringify(name)})
    if call is None and "Solution" in scope:
        call = getattr(scope["Solution"](), ${JSON.stringify(name)}, None)
    if call is None:
        raise NameError("there is no function " + ${JSON.stringify(name)})
    def plain(value):
        if isinstance(value, (set, frozenset)):
            return sorted(value)
        if hasattr(value, "tolist"):
            return value.tolist()
        return {"repr": repr(value)}
    args = json.loads(${JSON.stringify(JSON.stringify(test.args))})
    return json.dumps(call(*args), default=plain)
${tell("__gradus_call__()")}
`;
};

const javaScript = (test: Driven, word: string): string => {
  const tell = (value: string): string =>
    `process.stdout.write("\\n" + ${JSON.stringify(word)} + ${value} + "\\n")`;
  if (test.kind === "asserted")
    return `
;{
  const assert = require("assert");
  console.assert = (ok, ...words) => assert(ok, words.join(" ") || undefined);
  ${test.code}
}
${tell('""')};
`;
  return `
;{
  const name = ${JSON.stringify(test.name)};
  const own = typeof ${test.name} === "function" ? ${test.name} : (module.exports[name] ?? (typeof module.exports === "function" ? module.exports : undefined));
  if (typeof own !== "function") throw new ReferenceError("there is no function " + name);
  const value = own(...${JSON.stringify(test.args)});
  ${tell("JSON.stringify(value === undefined ? null : value)")};
}
`;
};

export const driven = (code: string, test: Driven, language: SandboxLanguage, word: string): string =>
  `${code.endsWith("\n") ? code : `${code}\n`}${language === "python" ? python(test, word) : javaScript(test, word)}`;

/** What the driver told; undefined: it did not come to that. */
export function toldBy(stdout: string, word: string): string | undefined {
  const at = stdout.lastIndexOf(`\n${word}`);
  if (at < 0) return undefined;
  const from = at + 1 + word.length;
  return stdout.slice(from, stdout.indexOf("\n", from));
}
