/** Commands that a person copies: what a shell would expand or split in a name is quoted. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { copiedWord } from "../../../shared/lib/copiedWord.ts";

test("a word of a command to copy is one word of a shell, and stays as it is where it is plain", () => {
  for (const plain of ["box", "me@10.0.0.1", "runs/out.yaml", "a=b", "lr:0.1,0.2"])
    assert.equal(copiedWord(plain), plain);
  for (const word of ["h$", "h`id`", "$(id)", "a b", "it's", "~", "*", "a;b", "!x", "", "\u00e9"])
    assert.equal(execFileSync("sh", ["-c", `printf %s ${copiedWord(word)}`], { encoding: "utf8" }), word);
});

test("on Windows a word is one of PowerShell and of the command prompt", () => {
  for (const [word, copied] of [
    [String.raw`story\run.sh`, String.raw`story\run.sh`],
    [String.raw`C:\My Runs\one`, String.raw`"C:\My Runs\one"`],
    ["it's", `"it's"`],
    ["$(id)", "'$(id)'"],
  ] as const)
    assert.equal(copiedWord(word, "win32"), copied);
  assert.equal(copiedWord(String.raw`a\b`, "linux"), String.raw`'a\b'`);
});
