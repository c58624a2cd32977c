import { resolve } from "node:path";
import { z } from "zod";
import { UserError } from "../../../shared/lib/errors.ts";
import { taskSource, param } from "../../core/declaration.ts";
import { refers, template } from "../../core/references.ts";
import type { Random } from "../../lib/random.ts";
import type { Saved } from "../../core/basics.ts";
import type { Tokenizer } from "../../core/policy.ts";
import { blocksOf, documentsOf, type Block } from "./corpusText.ts";
import { fill } from "../../core/templates.ts";
import { splitOf, type Split } from "../../core/split.ts";
import { quantilesOf, Surprise } from "./surprise.ts";
import type { Task } from "../../core/task.ts";
import type { RecordedTask, TaskSource } from "../../core/slots/tasks.ts";

const predictions = ["text", "next_token", "next_segment", "middle_segment", "masked_span"] as const;

const params = z.object({
  corpus: param(
    refers({ to: "file", ends: [".txt", ".md", ".jsonl"] }).min(1),
    "A text file, or .jsonl whose lines have `text`; relative to this config.",
  ),
  predict: param(
    z.enum(predictions).default("next_segment"),
    "What the model predicts. text: the whole chunk, for `pretrain`; next_token: the word after a position; next_segment: the segment that follows; middle_segment: a segment between two others; masked_span: words that were taken out of a segment.",
  ),
  segment: param(
    z.enum(["sentence", "line", "paragraph"]).default("sentence"),
    "The segments that the text is cut into.",
  ),
  before: param(z.number().int().min(1).default(4), "Most segments shown before."),
  after: param(z.number().int().min(1).default(1), "For middle_segment: most segments shown after."),
  ahead: param(z.number().int().min(1).default(1), "For next_token: number of words to predict."),
  span: param(
    z.tuple([z.number().int().min(1), z.number().int().min(1)]).default([1, 4]),
    "For masked_span: fewest and most words to take out.",
  ),
  mask: param(z.string().min(1).default("[MASK]"), "The mark where words or a segment were taken out."),
  prompt: param(
    template("before", "after", "mask").optional(),
    "Template of the prompt; default: `{before}` to predict what follows, `{before}{mask}{after}` to predict what was taken out.",
  ),
  max_prompt: param(
    z.number().int().positive().optional(),
    "Longest prompt, in tokens; a longer one loses its beginning.",
  ),
  block: param(
    z.number().int().min(1).default(2000),
    "Approximate characters in a block of text; a block is held out or trains as a whole.",
  ),
  surprise_bins: param(
    z.number().int().min(1).default(1),
    "For next_token: number of arms by how hard the word is to predict, from 1 (low entropy) up; all have the same number of positions.",
  ),
  take: param(
    z.tuple([z.number().min(0).max(1), z.number().min(0).max(1)]).default([0, 1]),
    "For next_token: only positions whose entropy is between these quantiles.",
  ),
});
type Params = z.output<typeof params>;

/** A position in a block that a task can be made of: the segment, and for next_token the word in it. */
interface CorpusPosition {
  readonly block: Block;
  readonly segment: number;
  /** First word to predict, counted in the segment. */
  readonly word: number;
  readonly value: string | undefined;
}

interface CorpusQuestion {
  readonly before: string;
  readonly answer: string;
  readonly after: string;
}

const wordsOf = (text: string): string[] => text.match(/\s*\S+/g) ?? [];

/** Segments before a position, at most `before`. */
const contextOf = ({ block, segment }: CorpusPosition, { before }: Params): string =>
  block.units.slice(Math.max(0, segment - before), segment).join("");

/** What is shown and what is to be predicted. */
function cut(place: CorpusPosition, chosen: Params, random: Random): CorpusQuestion {
  const { block, segment, word } = place;
  const own = block.units[segment]!;
  const before = contextOf(place, chosen);
  switch (chosen.predict) {
    case "text":
      return { before: "", answer: block.units.slice(segment).join(""), after: "" };
    case "next_segment":
      return { before, answer: own, after: "" };
    case "middle_segment":
      return {
        before,
        answer: own,
        after: block.units.slice(segment + 1, segment + 1 + chosen.after).join(""),
      };
    case "next_token": {
      const words = wordsOf(own);
      return {
        before: before + words.slice(0, word).join(""),
        answer: words.slice(word, word + chosen.ahead).join(""),
        after: "",
      };
    }
    case "masked_span": {
      const words = wordsOf(own);
      const [least, most] = chosen.span;
      const size = Math.min(words.length, least + random.integer(Math.max(1, most - least + 1)));
      const from = random.integer(words.length - size + 1);
      const gap = words.slice(from, from + size).join("");
      const space = /^\s*/.exec(gap)?.[0] ?? "";
      return {
        before: before + words.slice(0, from).join("") + space,
        answer: gap.trimStart(),
        after: words.slice(from + size).join("") + (/\s*$/.exec(own)?.[0] ?? ""),
      };
    }
  }
}

/** Whether a segment has what the task needs on both its sides. */
function fits({ units }: Block, segment: number, { predict }: Params): boolean {
  switch (predict) {
    case "next_segment":
      return segment > 0;
    case "middle_segment":
      return segment > 0 && segment < units.length - 1;
    case "text":
    case "next_token":
    case "masked_span":
      return true;
  }
}

function segmentsOf(blocks: readonly Block[], chosen: Params): CorpusPosition[] {
  return blocks.flatMap((block) =>
    block.units.flatMap((_, segment) =>
      fits(block, segment, chosen) ? [{ block, segment, word: 0, value: undefined }] : [],
    ),
  );
}

/** Every word that has something in front of it, in the arm of its entropy. */
function wordPlaces(blocks: readonly Block[], chosen: Params): CorpusPosition[] {
  const { surprise_bins: bins, take, ahead } = chosen;
  const surprise = new Surprise(
    blocks.filter(({ split }) => split === "train").flatMap(({ units }) => wordsOf(units.join(""))),
  );
  const all = segmentsOf(blocks, chosen).flatMap((place) => {
    const words = wordsOf(place.block.units[place.segment]!);
    const last = place.segment === 0 ? undefined : wordsOf(place.block.units[place.segment - 1]!).at(-1);
    return words.flatMap((_, word) => {
      const former = word === 0 ? last : words[word - 1];
      return former === undefined || word + ahead > words.length
        ? []
        : [{ ...place, word, entropy: surprise.entropy(former) }];
    });
  });
  const rank = quantilesOf(all.map(({ entropy }) => entropy));
  return all.flatMap(({ entropy: _, ...place }, index) => {
    const quantile = rank[index]!;
    if (quantile < take[0] || quantile > take[1]) return [];
    const bin = Math.min(bins, 1 + Math.floor(quantile * bins));
    return [{ ...place, value: bins === 1 ? undefined : String(bin) }];
  });
}

const defaultPrompt = ({ predict }: Params): string =>
  predict === "middle_segment" || predict === "masked_span" ? "{before}{mask}{after}" : "{before}";

/** Without state: what it draws is a function of the random stream it is given. */
class Corpus implements TaskSource {
  readonly values: readonly string[];
  private readonly lanes = new Map<string, readonly CorpusPosition[]>();

  constructor(
    readonly name: string,
    private readonly places: readonly CorpusPosition[],
    private readonly chosen: Params,
    private readonly tokenizer: Tokenizer | undefined,
  ) {
    this.values = [...new Set(places.flatMap(({ value }) => value ?? []))].sort();
  }

  draw(split: Split, value: string | undefined, random: Random): Task | null {
    const lane = this.lane(split, value);
    const place = lane[random.integer(Math.max(1, lane.length))];
    return place === undefined ? null : this.task(place, random);
  }

  valueOf(task: Task): string | undefined {
    const { bin } = task.data;
    return typeof bin === "string" ? bin : undefined;
  }
  /** A block is held out as a whole. */
  holdsOut({ id }: RecordedTask): boolean {
    const [kind, block] = id?.split(":") ?? [];
    return kind === "corpus" && block !== undefined && splitOf(block) === "evaluate";
  }
  save(): Saved {
    return { json: null };
  }
  load(): void {
    // Nothing is remembered.
  }

  private lane(split: Split, value: string | undefined): readonly CorpusPosition[] {
    const key = JSON.stringify([split, value ?? null]);
    const known =
      this.lanes.get(key) ??
      this.places.filter(
        (place) => place.block.split === split && (value === undefined || place.value === value),
      );
    this.lanes.set(key, known);
    return known;
  }

  /** The prompt with as much in front as it may have; without a tokenizer (a config being checked) characters count. */
  private fitted(asking: (before: string) => string, before: string): string {
    const { max_prompt: most } = this.chosen;
    const whole = asking(before);
    if (most === undefined) return whole;
    const { tokenizer } = this;
    const over = (tokenizer === undefined ? [...whole].length : tokenizer.encode(whole).length) - most;
    if (over <= 0) return whole;
    if (tokenizer === undefined) return asking([...before].slice(over).join(""));
    return asking(tokenizer.decode(tokenizer.encode(before).subarray(over)));
  }

  private task(place: CorpusPosition, random: Random): Task {
    const { chosen } = this;
    const { before, answer, after } = cut(place, chosen, random.fork("cut"));
    const { block, segment, word, value } = place;
    const parts = [block.id, chosen.predict, segment, word, before.length, answer.length];
    const whole = chosen.predict === "text" ? "" : (chosen.prompt ?? defaultPrompt(chosen));
    return {
      id: `corpus:${parts.join(":")}`,
      source: this.name,
      env: "corpus",
      prompt: this.fitted((before) => fill(whole, { before, after, mask: chosen.mask }), before),
      answer,
      solution: answer,
      data: { before, after, text: before + answer + after, ...(value === undefined ? {} : { bin: value }) },
    };
  }
}

export const corpus = taskSource({
  name: "corpus",
  summary:
    "Plain text, of which the model predicts what follows, what is between, or what was taken out. Training never sees the held-out blocks.",
  sources: [
    "RLP: Reinforcement as a Pretraining Objective",
    "Reinforcement Learning on Pre-Training Data",
    "Reinforcement Mid-Training",
    "PretrainZero: Reinforcement Active Pretraining",
  ],
  params,
  create: (chosen, context) => {
    const file = resolve(context.folder, chosen.corpus);
    const name = context.name ?? "corpus";
    const blocks = blocksOf(documentsOf(file), chosen.segment, chosen.block);
    const places = chosen.predict === "next_token" ? wordPlaces(blocks, chosen) : segmentsOf(blocks, chosen);
    if (!places.some(({ block }) => block.split === "train")) throw tooShort(file, chosen, blocks);
    return new Corpus(name, places, chosen, context.tokenizer);
  },
});

const needs = {
  text: "one segment",
  next_token: "two words in a segment",
  next_segment: "two segments in a block",
  middle_segment: "three segments in a block",
  masked_span: "one segment",
} as const;

const tooShort = (file: string, { predict, segment }: Params, blocks: readonly Block[]): UserError => {
  const segments = blocks.reduce((sum, { units }) => sum + units.length, 0);
  const train = blocks.filter(({ split }) => split === "train").length;
  return new UserError(
    `the corpus is too short: ${predict} needs ${needs[predict]} that trains, and the text has ${segments} (${segment}) in ${blocks.length} blocks, ${train} of them not held out`,
    {
      file,
      code: "corpus-short",
      action: "Add text, cut it into shorter segments (`segment: sentence` or `line`), or change `block`.",
    },
  );
};
