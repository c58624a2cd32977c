/** `gradus runs diff A B`: what training did to the weights, between two checkpoints. */
import { InvalidArgumentError, type Command as Program } from "commander";
import { openNamed, type NamedModel } from "../../../analysis/weights/comparable.ts";
import { diffWeights } from "../../../analysis/weights/diff.ts";
import { tolerance } from "../../../analysis/weights/movement.ts";
import { complain, print, printJson } from "../../command.ts";
import { whole } from "../../options.ts";
import { diffLines } from "./text.ts";
import { weightsMustBeWhole } from "../../../run/checkpoint/sums.ts";
import { checkpointWords, findCheckpoint } from "../checkpointNames.ts";
import { hiddenAlignment, textsOf } from "./hidden.ts";
import type { DiffReport } from "./report.ts";

interface DiffAsk {
  readonly store?: string;
  readonly json?: boolean;
  readonly base?: string;
  readonly texts?: string;
  readonly topK: number;
  readonly alpha: number;
  readonly side: number;
}

function share(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value > 0 && value < 1) return value;
  throw new InvalidArgumentError("Write a number between 0 and 1.");
}

export function diffCommand(program: Program): void {
  program
    .command("diff")
    .description("what training did to the weights, between two checkpoints, by layer and kind of weight")
    .argument("<a>", `before: ${checkpointWords}`)
    .argument("<b>", "after, named in the same way")
    .option(
      "--base <checkpoint>",
      "also which weights moved from this one to A and to B, and how many are the same",
    )
    .option(
      "--texts <file>",
      "also how alike the states of texts are, layer by layer (CKA): a file with a text a line, or a config, whose held-out prompts are read",
    )
    .option("--top-k <n>", "leading singular vectors whose subspaces are compared", whole(1), 16)
    .option(
      "--alpha <share>",
      "share of the weights that count as principal, smallest and largest",
      share,
      0.5,
    )
    .option(
      "--side <n>",
      "singular values are computed of matrices up to n × 8n; the time grows with n³",
      whole(1),
      1024,
    )
    .option("--store <folder>", "the store with the named runs, or a folder in its workspace")
    .option("--json", "one JSON value, with every matrix")
    .action(diff);
}

/** A line to stderr every ten seconds. */
function progress(): (done: number) => void {
  const start = performance.now();
  let last = start;
  return (done) => {
    const now = performance.now();
    if (now - last < 10_000) return;
    last = now;
    complain(`${Math.floor(100 * done)} % of the weights compared in ${Math.round((now - start) / 1000)} s`);
  };
}

async function diff(one: string, other: string, ask: DiffAsk): Promise<void> {
  const { store, texts: file, topK, alpha, side, json } = ask;
  const named = (name: string): NamedModel => {
    const path = findCheckpoint(name, store);
    weightsMustBeWhole(path);
    return { name, path };
  };
  const texts = file === undefined ? undefined : textsOf(file);
  if (file !== undefined && texts === undefined) return;
  const [a, b] = [openNamed(named(one), other), openNamed(named(other), one)];
  const base = ask.base === undefined ? undefined : openNamed(named(ask.base), one);
  const found = diffWeights(a, b, base, { topK, share: alpha, side, report: progress() });
  const cka = texts === undefined ? undefined : await hiddenAlignment(a.path, b.path, texts);
  const place = ({ name, path }: NamedModel): NamedModel => ({ name, path });
  const report: DiffReport = {
    a: place(a),
    b: place(b),
    ...(base !== undefined && { base: place(base) }),
    settings: { tolerance, top_k: topK, alpha, side },
    ...found,
    ...(cka !== undefined && { cka }),
  };
  if (json === true) return printJson(report);
  print(diffLines(report, process.stdout.columns > 0 ? process.stdout.columns : 80).join("\n"));
}
