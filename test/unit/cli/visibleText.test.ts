import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { eventLine, startedLines, summaryLines } from "../../../server/cli/text/runText.ts";
import { forTerminal, oneLine } from "../../../server/cli/text/terminal.ts";
import { plainMarkdown, visibleJson, visibleLine, visibleText } from "../../../shared/lib/visibleText.ts";
import { gradus } from "../../support/cli.ts";

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);
const c0 = range(0, 0x1f).filter((code) => code !== 9 && code !== 10);
const c1 = range(0x7f, 0x9f);
const bidi = [0x61c, 0x200e, 0x200f, ...range(0x202a, 0x202e), ...range(0x2066, 0x2069)];
const unsafe = [...c0, ...c1, ...bidi, 0x2028, 0x2029];
/** Nothing of these is sent to a terminal. */
const raw = new RegExp(`[${unsafe.map((code) => `\\u{${code.toString(16)}}`).join("")}]`, "u");
const escape = "\u001b";
const harmful = `a${escape}[2J${escape}]0;title\u0007${escape}[8mhidden\u202etxt.exe\u009b31m\u2066b`;

test("every C0 and C1 control, bidi control and line separator is shown and never sent", () => {
  for (const code of unsafe) {
    const text = `a${String.fromCodePoint(code)}b`;
    for (const shown of [
      visibleText(text),
      visibleLine(text),
      oneLine(text, 80),
      forTerminal(text, true),
      forTerminal(text, false),
    ]) {
      assert.doesNotMatch(shown, raw, code.toString(16));
      assert.ok(shown.startsWith("a") && shown.endsWith("b") && shown.length > 2, code.toString(16));
    }
  }
  assert.equal(visibleText(`${escape}[31m`), "␛[31m");
  assert.equal(visibleText("\u202ex\u0085"), "\\u{202e}x\\u{85}");
  assert.equal(visibleText("\ud800"), "\\u{d800}");
});

test("newlines, tabs, emoji and letters of right-to-left scripts stay as they are", () => {
  for (const text of ["two\nlines\tand a tab", "👩‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ❤️", "שלום", "مرحبا", "日本語", "e\u0301 ½ −"]) {
    assert.equal(visibleText(text), text);
    assert.equal(forTerminal(text, true), text);
  }
  assert.equal(visibleLine("a\nb\tc"), "a⏎b␉c");
});

test("what carries text that nobody sees is shown: tags but a flag's, and runs of selectors", () => {
  const tags = (text: string): string =>
    Array.from(text, (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("");
  assert.equal(visibleText(`a${tags("hi")}`), "a\\u{e0068}\\u{e0069}");
  assert.match(visibleText(`\u{1f3f4}${tags("gbengignore all")}`), /\\u\{e0061\}\\u\{e006c\}/);
  assert.equal(visibleText("❤\ufe0f\ufe01\u{e0101}"), "❤\ufe0f\\u{fe01}\\u{e0101}");
});

test("JSON for a program means the same and shows them as well", () => {
  const value = { name: "a\u202eb\u0085\u{e0041}", other: "é 日本語 🏴󠁧󠁢󠁥󠁮󠁧󠁿" };
  const text = visibleJson(value);
  assert.deepEqual(JSON.parse(text), value);
  assert.match(text, /a\\u202eb\\u0085\\udb40\\udc41/);
  assert.ok(text.includes("é 日本語 🏴󠁧󠁢󠁥󠁮󠁧󠁿"));
});

test("of a coloured line our own colours stay, and nothing else", () => {
  assert.equal(
    forTerminal(`${escape}[1mbold${escape}[22m ${escape}[31mred${escape}[39m`, true),
    `${escape}[1mbold${escape}[22m ${escape}[31mred${escape}[39m`,
  );
  assert.equal(forTerminal(`${escape}[8m${escape}[2J${escape}[1;31m`, true), "␛[8m␛[2J␛[1;31m");
  assert.equal(forTerminal(`${escape}[31m`, false), "␛[31m");
});

test("a run's lines show what its name, stages, messages and actions hold", () => {
  const lines = [
    ...startedLines({
      type: "started",
      run: "r",
      name: harmful,
      file: "",
      folder: "",
      steps: 1,
      backend: null,
      backendReason: null,
      stages: [{ name: harmful, kind: "rl", steps: 1 }],
    }),
    eventLine({ type: "event", step: 0, severity: "error", name: "x", message: harmful, action: harmful }),
    ...summaryLines({
      type: "summary",
      run: "r",
      status: "failed",
      steps: 1,
      message: harmful,
      evaluation: { first: null, last: null },
      seconds: 1,
      folder: "/x/.gradus/runs/r",
      resume: null,
    }),
  ];
  for (const line of lines) assert.doesNotMatch(line, raw);
});

test("in Markdown a name is text: no link, image, HTML, icon, emphasis or second line", () => {
  const shown = plainMarkdown("![x](https://evil.example/a.png) <b>*_`~$(x)|\n# h & &amp; \u202e");
  assert.doesNotMatch(shown, raw);
  assert.ok(!shown.includes("\n"));
  for (const mark of ["!", "[", "]", "(", ")", "<", ">", "*", "_", "`", "~", "$", "|", "#", "&", ":"])
    assert.ok(!new RegExp(`(?<!\\\\)\\${mark}`).test(shown), `${mark} in ${shown}`);
});

test("gradus reward, explain and explain --why print no control character of rollouts; --json is unchanged", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-visible-"));
  try {
    const config = join(folder, "a.gradus.yaml");
    const rollouts = join(folder, "rollouts.jsonl");
    writeFileSync(
      config,
      "name: a\ntasks: [{ env: countdown, numbers: [3] }]\nreward: { terms: { correct: { use: equation } } }\nsteps: 1\n",
    );
    const row = (index: number): string =>
      JSON.stringify({
        step: 0,
        group: `g${harmful}`,
        index,
        prompt: harmful,
        response: harmful,
        tokens: [1, 2],
        logp_old: [-1, -1],
        reward: index,
        rewards: { correct: index },
        task: { env: "countdown", data: { numbers: [1, 2, 3], target: 6 } },
      });
    writeFileSync(rollouts, `${row(0)}\n${row(1)}\n`);
    for (const words of [
      ["reward", config, "--rollouts", rollouts],
      ["explain", config, "--rollouts", rollouts],
      ["explain", config, "--rollouts", rollouts, "--why", `g${harmful}#1`],
    ]) {
      const { stdout, stderr } = await gradus(words, folder);
      assert.doesNotMatch(stdout + stderr, raw, words.join(" "));
      assert.match(stdout + stderr, /␛\[2J/, `${words[0]}: ${stdout}${stderr}`);
    }
    const { stdout } = await gradus(["reward", config, "--rollouts", rollouts, "--json"], folder);
    assert.ok(stdout.includes("\\u001b[2J") && stdout.includes("\\u202e"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
