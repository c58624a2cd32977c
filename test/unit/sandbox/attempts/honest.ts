/** Programs that use what attempts spoil: what they print is the same, whatever ran before. */
import type { SandboxLanguage } from "../../../../server/lib/sandbox/sandbox.ts";

export const honest: Readonly<Record<SandboxLanguage, { readonly code: string; readonly expected: string }>> =
  {
    python: {
      code: `
import graphlib, ipaddress, json, os, random, secrets, sqlite3, sys, time
print(json.dumps([1, {"a": len("abc")}]), list(graphlib.TopologicalSorter({1: [2]}).static_order()), ipaddress.ip_address(1))
print(sqlite3.connect(":memory:").execute("select 1 + 1").fetchone(), os.getcwd(), len(os.environ), sys.getrecursionlimit(), "JST" not in time.tzname)
print(random.random() == random.Random(random.SystemRandom().random()).random(), sys.stdin.read() == "", __name__)
try:
    x = bytearray(90 << 20)
    print("more than it may")
except MemoryError:
    print("full")
`,
      expected: '[1, {"a": 3}] [2, 1] 0.0.0.1\n(2,) / 0 1000 True\nFalse True __main__\nfull\n',
    },
    javascript: {
      code: `
const data = require("fs").readFileSync(0, "utf8");
Promise.resolve([3, 1, 2]).then((x) => console.log(JSON.stringify(x.sort().map((n) => n + 1)), ({}).kind, data.length));
setTimeout(() => console.log("later".replace("l", "L")), 1);
`,
      expected: "[2,3,4] undefined 0\nLater\n",
    },
  };
