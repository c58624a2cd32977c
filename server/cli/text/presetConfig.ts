/** A starter of one preset that says, in comments, what that is: where the reader of a paper begins. */
import { paperReference } from "../../config/papers.ts";
import type { Preset } from "../../config/presets.ts";
import { checking } from "../starter/checking.ts";
import { configAlone } from "../starter/files.ts";
import { wrapped } from "./whyText.ts";

/** Columns of a comment. */
const width = 100;

/** It has the tasks and the reward that the preset leaves open, so that it is checked and runs as it is. */
export const presetConfig = (preset: Preset): string =>
  configAlone(preset.id, heading(preset), checking(`${preset.id}.gradus.yaml`));

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
