/** A config that extends one preset and says, in comments, what that is: where the reader of a paper begins. */
import { stringify } from "yaml";
import { paperReference } from "../../config/papers.ts";
import type { Preset } from "../../config/presets.ts";
import { child } from "../../config/text/node.ts";
import { loadConfig } from "../../rules/load.ts";
import { wrapped } from "./whyText.ts";

/** Columns of a comment. */
const width = 100;

/** Contexts of the small model, in tokens, the first of which that holds the preset's episodes is written. */
const contexts = [undefined, 256, 512, 1024, 2048, 4096, 8192] as const;

/** It has the tasks and the reward that the preset leaves open, so that it is checked and runs as it is. */
export function presetConfig(preset: Preset): string {
  const file = `${preset.id}.gradus.yaml`;
  const fits = (text: string): boolean =>
    loadConfig(file, { text }).diagnostics.every(({ rule }) => rule !== "context-length");
  const extended = `extends: ${stringify(preset.id).trim()}`;
  const { root } = loadConfig(file, { text: `${extended}\n` });
  const terms = child(child(root, "reward"), "terms");
  const hasTerms = terms?.kind === "map" && terms.entries.size > 0;
  const tasks = child(root, "tasks");
  const hasTasks = tasks?.kind === "list" && tasks.items.length > 0;
  const withContext = (context: number | undefined): string =>
    [
      ...heading(preset),
      extended,
      "",
      "# The policy: `tiny` is a small transformer from random weights; write the path of a model to train that.",
      `model: { base: tiny${context === undefined ? "" : `, context: ${context}`} }`,
      ...(hasTasks ? [] : ["", ...exampleTasks]),
      ...(hasTerms ? [] : ["", ...exampleReward]),
      "",
    ].join("\n");
  return withContext(contexts.find((context) => fits(withContext(context))));
}

function heading({ id, title, papers, status, follows }: Preset): string[] {
  const named = papers.length === 0 ? [title] : papers.map(paperText);
  const sure = status === "exact" ? "" : ` (${status})`;
  return comment([
    ...named,
    "",
    `What \`${id}\` follows${sure}: ${follows.trim()}`,
    "",
    `\`gradus resolve FILE\` prints every choice and where it comes from.`,
  ]);
}

function paperText(title: string): string {
  const { arxiv } = paperReference(title);
  return arxiv === undefined ? title : `${title} (arXiv ${arxiv})`;
}

const comment = (paragraphs: readonly string[]): string[] =>
  paragraphs.flatMap((text) =>
    text === "" ? ["#"] : wrapped(text.replaceAll(/\s+/g, " "), width).map((line) => `# ${line}`),
  );

const exampleTasks = [
  '# Tasks to try it on. Yours: `- { dataset: ./data.jsonl, prompt: "{question}", answer: "{answer}" }`.',
  "tasks:",
  "  - { env: countdown, numbers: [3, 4] }",
];
const exampleReward = [
  "# Their reward. Yours: `use: ./rewards/mine.ts` or `use: ./rewards/mine.py:score`.",
  "reward:",
  "  terms:",
  "    correct: { use: equation }",
];
