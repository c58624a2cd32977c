/** The small reading of the shell that launch scripts need. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { integerOf } from "../../../server/frameworks/text/shell/arithmetic.ts";
import { readScript } from "../../../server/frameworks/text/shell/script.ts";

/** Of every command, its words. */
const launches = (text: string): string[][] =>
  readScript(text).launches.map(({ words }) => words.map((word) => word.text));
const words = (text: string): readonly string[] => launches(text).at(-1) ?? [];

describe("a launch script", () => {
  it("joins continued lines and leaves comments out", () => {
    assert.deepEqual(words("run a=1 \\\n  # b=2\n  c=3"), ["run", "a=1"]);
    assert.deepEqual(words("run a=1 \\\n  b=2 # c=3\n"), ["run", "a=1", "b=2"]);
    assert.deepEqual(words("run a=1 \\\r\n  b=2\r\n"), ["run", "a=1", "b=2"]);
  });

  it("puts variables in: set, exported, defaulted, set before the command, set nowhere", () => {
    const script = 'X=1\nexport Y="a b"\nZ=${Z:-$X} run x=$X y="$Y" z=${Z} w=${W:-${X}2} v=$V q=\'$X\'';
    assert.deepEqual(words(script), ["run", "x=1", "y=a b", "z=1", "w=12", "v=$V", "q=$X"]);
    assert.deepEqual([...readScript(script).unset.keys()], ["V"]);
  });

  it("splits what is not quoted, and no quoted text", () => {
    assert.deepEqual(words('X="a=1 b=2"\nrun $X'), ["run", "a=1", "b=2"]);
    assert.deepEqual(words('X="a=1 b=2"\nrun "$X"'), ["run", "a=1 b=2"]);
    assert.deepEqual(words('run a=\'["x","y"]\' b="{c: \'d\'}"'), ["run", 'a=["x","y"]', "b={c: 'd'}"]);
  });

  it("knows arrays, with comments in them, and appending to them", () => {
    const text = "A=(\n  a=1\n  # don't\n  'b=2 3'\n)\nA+=(c=4)\nrun \"${A[@]}\" ${A[0]}";
    assert.deepEqual(words(text), ["run", "a=1", "b=2 3", "c=4", "a=1"]);
  });

  it("computes whole numbers", () => {
    assert.deepEqual(words("A=3\nrun a=$((A * (2 + 1024) - 1)) b=$(( 7 / 2 ))"), ["run", "a=3077", "b=3"]);
    assert.equal(integerOf("2 ** 3 ** 2 % 100"), 12);
    assert.equal(integerOf("1 + x"), undefined);
    assert.deepEqual(words("run a=$(nproc)"), ["run", "a=$(nproc)"]);
  });

  it("takes the branch that holds", () => {
    const text =
      'M=grpo\nif [ "$M" = "gae" ]; then\n X=1\nelif [[ $M == gr* ]]; then\n X=2\nelse\n X=3\nfi\nrun x=$X';
    assert.deepEqual(words(text), ["run", "x=2"]);
    assert.deepEqual(words("if [ $# -gt 5 ]; then X=1; else X=2; fi; run x=$X"), ["run", "x=2"]);
    assert.deepEqual(words('case "$M" in\n a|b) X=1 ;;\n *) X=2 ;;\nesac\nrun x=$X'), ["run", "x=2"]);
    assert.deepEqual(
      words("if true; then if false; then X=1; fi; fi\nwhile read l; do X=9; done\nrun x=${X:-0}"),
      ["run", "x=0"],
    );
  });

  it("runs what follows && and || only where the test before it says so", () => {
    assert.deepEqual(words('A="a=1"\n[ -n "$DEBUG" ] && A="$A a=2"\nrun $A'), ["run", "a=1"]);
    assert.deepEqual(words('[ -z "$N" ] && N=8\n[[ "$N" == 8 ]] || N=9\nrun n=$N'), ["run", "n=8"]);
    assert.deepEqual(words("[ $# -ge 1 ] || { A=1; B=2; }\nfalse && { A=3; }\nrun $A$B"), ["run", "12"]);
    assert.deepEqual(words('N=3\ncd x || N=4\n[ ! -z "$N" ] &&\n  N=5\nrun n=$N'), ["run", "n=5"]);
    assert.deepEqual(words("M=a\nif [[ $M == a && $M != b ]]; then X=1; else X=2; fi\nrun $X"), ["run", "1"]);
    assert.deepEqual(words("if [ 1 -eq 2 ] || [ 2 -eq 2 ]; then X=1; fi\nrun $X"), ["run", "1"]);
    // Whether a file is there is not asked: the command may run.
    assert.deepEqual(words("[ -f data ] && run a=1"), ["run", "a=1"]);
  });

  it("takes a sweep's first round, and follows functions", () => {
    assert.deepEqual(launches("for lr in 1e-6 1e-5; do\n run lr=$lr\ndone"), [["run", "lr=1e-6"]]);
    assert.deepEqual(words("go() {\n  run lr=$1 $2\n}\ngo 1e-6 a=1"), ["run", "lr=1e-6", "a=1"]);
  });

  it("reads here-documents", () => {
    const text =
      "N=4\nread -r -d '' cmd <<EOF\nprog --a 1 \\\n  --n $N\nEOF\nif [[ ${1} != \"slurm\" ]]; then\n  deepspeed $cmd\nfi";
    assert.deepEqual(words(text), ["deepspeed", "prog", "--a", "1", "--n", "4"]);
    assert.deepEqual(words("read -r cmd <<'EOF'\nprog $N\nEOF\nx $cmd"), ["x", "prog", "$N"]);
  });

  it("ends, whatever is in the text", () => {
    for (const text of [
      "",
      "(",
      "if",
      "X=(",
      "run '",
      'run "',
      "run ${",
      "run $((",
      "<<",
      "esac fi done",
      "a() {",
      "case x in",
      "for",
      "`",
    ])
      assert.ok(Array.isArray(launches(text)));
  });
});
