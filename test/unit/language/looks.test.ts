/** How answers look in an editor: what is first, what is set apart, what is not said twice. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { MarkupContent } from "vscode-languageserver";
import { loadConfig } from "../../../server/rules/load.ts";
import { completionsAt } from "../../../server/language/completion/completion.ts";
import { defaultText } from "../../../server/language/completion/keys.ts";
import { setApart } from "../../../server/language/features/hints.ts";
import { hoverAt } from "../../../server/language/hovers/hover.ts";
import { sweepPicture } from "../../../server/analysis/rescore/sweepPicture.ts";
import { sweepText } from "../../../shared/rollouts/rescoreText.ts";

const folder = mkdtempSync(join(tmpdir(), "gradus-looks-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const text = `extends: base.gradus.yaml
rollout: { prompts: 4, max_tokens: 9 }
objective: { use: clipped }
`;
const file = join(folder, "own.gradus.yaml");
writeFileSync(
  join(folder, "base.gradus.yaml"),
  `extends: grpo
tasks: [{ env: countdown }]
reward: { terms: { correct: equation } }
rollout: { max_tokens: 32 }
`,
);
writeFileSync(file, text);

describe("a hover", () => {
  const hover = (at: string, more: Partial<Parameters<typeof hoverAt>[0]> = {}): string => {
    const loaded = loadConfig(file, { text });
    assert.ok(loaded.source);
    const before = text.slice(0, text.indexOf(at) + 1).split("\n");
    const position = { line: before.length - 1, character: before.at(-1)!.length };
    const contents = hoverAt({ root: loaded.source, position, file, loaded, ...more })?.contents;
    assert.ok(MarkupContent.is(contents));
    return contents.value;
  };

  it("links where a value was written, by the file's name below the config's folder", () => {
    const value = hover("max_tokens");
    assert.match(value, /From \[own\.gradus\.yaml:2\]\(file:.*#L2\)\./);
    assert.match(value, /Without this line: `32`, from \[base\.gradus\.yaml:4\]\(file:.*#L4\)/);
  });
  it("has what runs have shown after its first paragraph", () => {
    const paragraphs = hover("clipped", { evidence: () => "seen", extra: "picture" }).split("\n\n");
    assert.match(paragraphs[0]!, /^\*\*clipped\*\*/);
    assert.deepEqual(paragraphs.slice(1, 3), ["seen", "picture"]);
  });
  it("writes formulas as code whose lines wrap", () => {
    const value = hover("clipped");
    assert.doesNotMatch(value, /```/);
    assert.match(value, /\n`ℓ = [^`]*`\n/);
  });
  it("writes defaults as a config does", () => {
    assert.equal(defaultText("token"), "Default: `token`.");
    assert.equal(defaultText(null), "Default: none.");
    assert.equal(defaultText([1, 8]), "Default: `[1,8]`.");
  });
});

describe("a list of completions", () => {
  const items = (described: boolean) =>
    completionsAt({
      text: "rollout: { ",
      position: { line: 0, character: 11 },
      merged: undefined,
      file,
      client: { snippets: true, suggest: true, described },
    }).items;

  it("says after each key what holds without it, where the editor has a place for that", () => {
    const key = items(true).find(({ label }) => label === "max_tokens");
    assert.deepEqual(key?.labelDetails, { description: "default 64" });
    assert.equal(key?.detail, undefined);
  });
  it("says it next to the chosen key elsewhere", () => {
    const key = items(false).find(({ label }) => label === "max_tokens");
    assert.equal(key?.detail, "default 64");
    assert.equal(key?.labelDetails, undefined);
  });
});

describe("hints", () => {
  const hint = (character: number, label: string) => ({
    position: { line: 0, character },
    label,
    paddingLeft: true,
  });
  const labels = (line: string, ...given: readonly string[]): unknown[] =>
    setApart(
      given.map((label) => hint(line.length, label)),
      [line],
    ).map(({ label }) => label);

  it("are set apart from a number or a word before them", () => {
    assert.deepEqual(labels("steps: 50", "60 ms a step"), ["· 60 ms a step"]);
    assert.deepEqual(labels("rollout: { group: 8 }", "64 rollouts"), ["64 rollouts"]);
  });
  it("are set apart from each other", () => {
    assert.deepEqual(labels("x: { }", "one", "two"), ["one", "· two"]);
  });
});

describe("a sweep", () => {
  const point = { rankFlips: 0, signFlips: 0, gained: 0, lost: 0 };
  const sweep = {
    run: "one",
    term: "tidy",
    weight: 1,
    from: 3,
    to: 4,
    rollouts: 16,
    signed: 16,
    pairs: 40,
    notes: [],
    picture: "<svg/>",
  };

  it("of a term that changes nothing is a sentence", () => {
    const points = [0, 1, 2].map((weight) => ({ weight, share: 0, ...point }));
    assert.match(sweepText({ ...sweep, points }, true), /its weight changes no advantage\.$/);
  });
  it("is drawn in colours that can be read on white and on the dark themes' grey", () => {
    const picture = sweepPicture([{ weight: 0, share: 0, ...point }], 0, 16);
    const colours = new Set([...picture.matchAll(/#[0-9a-f]{6}/g)].map(([colour]) => colour));
    assert.equal(colours.size, 3);
    for (const colour of colours)
      for (const ground of ["#ffffff", "#1f1f1f", "#000000"])
        assert.ok(contrast(colour, ground) > 3.9, `${colour} on ${ground}: ${contrast(colour, ground)}`);
  });
});

/** As WCAG 2 defines it. */
function contrast(one: string, other: string): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high! + 0.05) / (low! + 0.05);
}
function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}
