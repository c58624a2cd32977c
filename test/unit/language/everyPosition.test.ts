/** Whatever is in a config was worth offering: at each place the rest of the line is taken away, and what was there has to come. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { loadConfig } from "../../../server/rules/load.ts";
import type { MapNode, SourceNode } from "../../../server/config/text/node.ts";
import { completionsAt } from "../../../server/language/completion/completion.ts";
import { count, some } from "../../support/thorough.ts";

interface Token {
  readonly kind: "key" | "value";
  readonly text: string;
  readonly path: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly number: boolean;
}

const inFolder = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".yaml") && !name.endsWith(".test.yaml"))
    .map((name) => join(folder, name))
    .sort();

function tokensOf(node: SourceNode | undefined, path = ""): Token[] {
  if (node === undefined) return [];
  const { start, end } = node.origin.range;
  if (node.kind === "list") return node.items.flatMap((item) => tokensOf(item, `${path}[]`));
  if (node.kind === "scalar") {
    if (node.value === null || start.line !== end.line) return [];
    return [
      {
        kind: "value",
        text: String(node.value),
        path,
        line: start.line,
        start: start.character,
        // Behind a closing quote another text would begin.
        end:
          end.character -
          (end.character - start.character > String(node.value).length && typeof node.value === "string"
            ? 1
            : 0),
        number: typeof node.value === "number",
      },
    ];
  }
  return [...node.entries].flatMap(([key, { key: at, value }]): Token[] => {
    if (path === "" && key === "preset") return [];
    const below = path === "" ? key : `${path}.${key}`;
    const { start: from, end: to } = at.range;
    return [
      {
        kind: "key",
        text: key,
        path: below,
        line: from.line,
        start: from.character,
        end: to.character,
        number: false,
      },
      ...tokensOf(value, below),
    ];
  });
}

/** Only the person knows these; each with the reason. */
const unknowable: readonly (readonly [RegExp, "key" | "value", string])[] = [
  [/^name$/, "value", "what the run is called"],
  [/^stages\[\]\.name$/, "value", "what the stage is called"],
  [/^(?:stages\[\]\.)?tasks\[\]\.name$/, "value", "what the task is called"],
  [/\.(?:author|judge|judges\[\]|by)\.(?:url|model)$/, "value", "a server and what it calls its model"],
  [/^(?:stages\[\]\.)?reward\.terms\.[^.]+$/, "key", "what the term is called"],
  [/^models\.[^.]+$/, "key", "what the model is called"],
  [/value_heads\[\](?:\.name)?$/, "value", "what the head is called"],
  [/^(?:stages\[\]\.)?tasks\[\]\.(?:prompt|begin|answer|solution)$/, "value", "words to a model"],
  [/\.(?:request|template|ask|between)$|^rollout\.shape\.feedback$/, "value", "words to a model"],
  [/\.generate\..*\.levels\[\]$/, "value", "words to a model"],
  [/\.(?:pattern|take|yes|forbid)$/, "value", "a pattern of one's own"],
  [/^rollout\.(?:stop\[\]|steps)$/, "value", "text of an answer"],
  [/^rollout\.command(?:\[\])?$/, "value", "a program of one's own"],
  [/(?:^|\.)(?:phrases|list|tags)\[\]$|\.tag$/, "value", "text of an answer"],
  [/^model\.base$/, "value", "a file that is fetched first"],
  [/^replay\.path$/, "value", "a file that runs make"],
  [/^(?:advantage\.token_weights|mask)\[\]\.name$/, "value", "what rollouts call a span"],
  [/on_enter\.snapshot$/, "value", "what the snapshot is called"],
  [
    /^(?:curriculum\.(?:estimator\.field|arms\.fields\[\])|(?:stages\[\]\.)?reward\.terms\.[^.]+\.(?:field|anchor))$/,
    "value",
    "a field of the person's data, which a preset has not",
  ],
];

interface Outcome {
  asked: number;
  offered: number;
  numbers: number;
  readonly unknowable: Map<string, number>;
  readonly missing: string[];
}
const fresh = (): Outcome => ({ asked: 0, offered: 0, numbers: 0, unknowable: new Map(), missing: [] });

interface Change {
  readonly name: string;
  /** The document with something wrong elsewhere than in `line`, and where that line then is. */
  apply(lines: readonly string[], line: number): { lines: readonly string[]; line: number } | undefined;
}

const client = { snippets: true, suggest: false };

function ask(
  file: string,
  merged: MapNode | undefined,
  lines: readonly string[],
  line: number,
  column: number,
  token: Token,
  outcome: Outcome,
): void {
  const cut = [...lines];
  cut[line] = (lines[line] ?? "").slice(0, column);
  const { items } = completionsAt({
    text: cut.join("\n"),
    position: { line, character: column },
    merged,
    file: resolve(file),
    client,
  });
  outcome.asked++;
  const labels = new Set(items.map(({ label }) => label));
  if (labels.has(token.text)) {
    outcome.offered++;
    return;
  }
  const known = unknowable.find(([path, kind]) => kind === token.kind && path.test(token.path));
  if (known !== undefined) outcome.unknowable.set(known[2], (outcome.unknowable.get(known[2]) ?? 0) + 1);
  else if (token.number) outcome.numbers++;
  else
    outcome.missing.push(
      `${file}:${line + 1}:${column + 1} ${token.kind} ${token.path} = ${token.text}; offered ${[...labels].slice(0, 6).join(" ")}`,
    );
}

/** Beginning, middle and end of the token; for `all`, each of its columns. */
const columnsOf = ({ start, end }: Token, all: boolean): number[] =>
  all
    ? Array.from({ length: end - start + 1 }, (_, i) => start + i)
    : [...new Set([start, Math.floor((start + end) / 2), end])];

function askAll(files: readonly string[], all: boolean, change?: Change): Outcome {
  const outcome = fresh();
  for (const file of files) {
    const text = readFileSync(file, "utf8");
    const { root, source } = loadConfig(resolve(file), { text });
    const lines = text.split("\n");
    for (const token of tokensOf(source)) {
      const changed = change === undefined ? { lines, line: token.line } : change.apply(lines, token.line);
      if (changed === undefined) continue;
      for (const column of columnsOf(token, all))
        ask(file, root, changed.lines, changed.line, column, token, outcome);
    }
  }
  return outcome;
}

function nearest(lines: readonly string[], line: number, step: 1 | -1): number | undefined {
  for (let at = line + step; at >= 0 && at < lines.length; at += step)
    if (/[\]}]/.test(lines[at] ?? "") && !/^\s*#/.test(lines[at] ?? "")) return at;
  return undefined;
}
const without = (lines: readonly string[], at: number): string[] =>
  lines.map((text, index) => (index === at ? text.replace(/[\]}](?=[^\]}]*$)/, "") : text));

const unclosed = (step: 1 | -1): Change => ({
  name: step < 0 ? "a bracket above is not closed" : "a bracket below is not closed",
  apply(lines, line) {
    const at = nearest(lines, line, step);
    return at === undefined ? undefined : { lines: without(lines, at), line };
  },
});
const garbage = (indent: string, where: 0 | 1): Change => ({
  name: `nonsense ${where === 0 ? "above" : "below"}${indent === "" ? "" : ", indented"}`,
  apply: (lines, line) => ({
    lines: [...lines.slice(0, line + where), `${indent}%% }{ :: "`, ...lines.slice(line + where)],
    line: line + 1 - where,
  }),
});

const examples = inFolder("examples");
const presets = some(inFolder("presets"), 12);

const report = (name: string, { asked, offered, numbers, unknowable: held, missing }: Outcome): string =>
  `${name}: ${asked} places, ${offered} offered, ${numbers} numbers of one's own, ${[...held].map(([why, count]) => `${count} ${why}`).join(", ")}, ${missing.length} missing`;

describe("completion at every position", () => {
  const holds = (context: TestContext, name: string, outcome: Outcome, least: number): void => {
    context.diagnostic(report(name, outcome));
    assert.ok(outcome.asked >= least, report(name, outcome));
    assert.deepEqual(outcome.missing.slice(0, 20), [], report(name, outcome));
  };
  it("offers what an example has, at each column", (context) =>
    holds(context, "examples", askAll(examples, true), 2_000));
  it("offers what a preset has", (context) =>
    holds(context, "presets", askAll(presets, false), count(180, 3_000)));
  for (const change of some(
    [unclosed(-1), unclosed(1), garbage("", 0), garbage("", 1), garbage("    ", 0), garbage("    ", 1)],
    3,
  ))
    it(`offers the same where ${change.name}`, (context) => {
      holds(
        context,
        change.name,
        askAll([...examples, ...some(presets, 20)], false, change),
        count(150, 1_000),
      );
    });
});
