/** Whether each term pays an answer in the format that its prompt shows as much as it pays any: else no policy that obeys earns it. */
import type { RewardTermConfig } from "../../../core/config/resolved.ts";
import type { Task } from "../../../core/task.ts";
import type { AnswerScorer, ScoredAnswer } from "../answers.ts";
import { spread, type CheckedTask } from "../checkedTasks.ts";
import { goldForms, type GoldForm } from "../forms/goldForms.ts";
import { ownFile, placeIn, placeOf, type FilePlace } from "../ownFiles.ts";
import { mismatches, type Mismatch } from "./mismatch.ts";
import { PromptForms } from "./promptForms.ts";

/** A term that pays the prompts' format less than another. */
export interface FormatFinding {
  readonly term: string;
  /** What it pays the format, and the most that it pays any answer. */
  readonly earned: number;
  readonly most: number;
  /** It is so only where the work has several lines. */
  readonly onlyLines: boolean;
  /** Completes "… earns 0 of 0.5: ". */
  readonly reason: string;
  /** The answer, to the first of the tasks. */
  readonly response: string;
  /** The pattern's line, else the function's; undefined of a method of ours. */
  readonly place?: FilePlace;
}

/** Tasks whose answers are tried. */
const sampled = 4;
/** A smaller part of what a term pays is no matter of the format. */
const tolerated = 0.1;
/** Of a form that the prompt does not show: a term that pays a part of it may pay brevity. */
const foreign = 0.25;

interface Candidate {
  readonly form: GoldForm;
  /** Completes "…, it earns 1"; undefined: the prompt shows it. */
  readonly change?: string;
  readonly isForeign?: true;
}

/** What each candidate earns of a term on average; undefined: the term fails on it, or does not apply. */
type Earnings = ReadonlyMap<Candidate, number | undefined>;

const noTask: Task = { id: "", source: "", env: "", prompt: "", data: {} };

/** @returns none where no prompt shows a format */
export async function checkFormat(
  scorer: AnswerScorer,
  tasks: readonly CheckedTask[],
  forms = new PromptForms(scorer.body),
): Promise<FormatFinding[]> {
  const known = spread(tasks, sampled * 16).filter(({ task }) => forms.plain.of(task) !== undefined);
  const sample = spread(known, sampled).map(({ task }) => task);
  if (sample.length === 0) return [];
  return new FormatCheck(scorer, sample, forms).findings();
}

class FormatCheck {
  private readonly shown: readonly Candidate[];
  private readonly long: Candidate;
  private readonly others: readonly Candidate[];

  constructor(
    private readonly scorer: AnswerScorer,
    private readonly tasks: readonly Task[],
    private readonly forms: PromptForms,
  ) {
    this.shown = [{ form: forms.plain }, { form: forms.begunByReward }];
    this.long = { form: forms.long };
    this.others = [
      ...forms.variants.map((form): Candidate => ({ form, change: form.change })),
      // What the data itself writes is no form that a policy is asked for.
      ...goldForms
        .filter((form) => form.with(noTask, "1") !== undefined)
        .map((form): Candidate => ({ form, change: `written ${form.name}`, isForeign: true })),
    ];
  }

  async findings(): Promise<FormatFinding[]> {
    const all = [...this.shown, this.long, ...this.others];
    const scored = await this.scored(all, (text) => text);
    const found: FormatFinding[] = [];
    for (const term of this.scorer.body.reward.terms) {
      const finding = await this.findingOf(term, earningsOf(scored, term.name));
      if (finding !== undefined) found.push(finding);
    }
    return found;
  }

  private async findingOf(term: RewardTermConfig, paid: Earnings): Promise<FormatFinding | undefined> {
    const shown = this.shown.flatMap((one) => paid.get(one) ?? []);
    if (shown.length === 0) return undefined;
    const earned = Math.max(...shown);
    const { missed, most: literal } = this.patterns(term);
    const always = missed.find(({ onlyLines }) => !onlyLines);
    const values = [...paid.values()].filter((value) => value !== undefined);
    const most = Math.max(...values, ...(always === undefined || literal === undefined ? [] : [literal]));
    const better = isLess(earned, most) ? always : undefined;
    if (better !== undefined) return this.finding(term, { earned, most, reason: better.reason, of: better });
    const best = await this.better(term, paid, earned);
    if (best !== undefined) {
      const value = paid.get(best) ?? earned;
      const reason = `${best.change!}, it earns ${rounded(value)}`;
      return this.finding(term, { earned, most: value, reason });
    }
    const [of] = missed;
    const lines = await this.ofLines(term, paid, earned, of !== undefined);
    if (lines === undefined) return undefined;
    const reason = of?.reason ?? `with one line of work, it earns ${rounded(earned)}`;
    return this.finding(term, { earned: lines, most: earned, reason, of, onlyLines: true });
  }

  /** What work of several lines earns, where it is less, and not for its length. */
  private async ofLines(
    { name }: RewardTermConfig,
    paid: Earnings,
    earned: number,
    isExplained: boolean,
  ): Promise<number | undefined> {
    const lines = paid.get(this.long);
    if (lines === undefined || !isLess(lines, earned)) return undefined;
    if (isExplained) return lines;
    const [plain] = this.shown;
    const fillers = earningsOf(await this.scored([plain!, this.long], fillerFor), name);
    const byLength = Math.max(0, (fillers.get(plain!) ?? 0) - (fillers.get(this.long) ?? 0));
    return isLess(lines + byLength, earned) ? lines : undefined;
  }

  /** What earns most, if that is not for its length. */
  private async better(
    { name }: RewardTermConfig,
    paid: Earnings,
    earned: number,
  ): Promise<Candidate | undefined> {
    const better = this.others.filter((one) => {
      const value = paid.get(one);
      return (
        value !== undefined && isLess(earned, value) && (one.isForeign !== true || earned <= foreign * value)
      );
    });
    if (better.length === 0) return undefined;
    const fillers = earningsOf(await this.scored([...this.shown, ...better], fillerFor), name);
    const plain = fillers.get(this.shown[0]!) ?? 0;
    const gains = better.map((one) => {
      const value = paid.get(one)!;
      const byLength = Math.max(0, (fillers.get(one) ?? plain) - plain);
      return { one, value, isReal: isLess(earned + byLength, value) };
    });
    const real = gains.filter(({ isReal }) => isReal);
    const most = Math.max(...real.map(({ value }) => value));
    // Of those that earn about as much the first changes least.
    return real.find(({ value }) => !isLess(value, most))?.one;
  }

  /** Each candidate's answers to the tasks. */
  private async scored(
    candidates: readonly Candidate[],
    as: (text: string) => string,
  ): Promise<ReadonlyMap<Candidate, readonly ScoredAnswer[]>> {
    const asked = candidates.flatMap((candidate) =>
      this.tasks.flatMap((task) => {
        const response = candidate.form.of(task);
        return response === undefined ? [] : [{ candidate, answer: { task, response: as(response) } }];
      }),
    );
    const scored = await this.scorer.score(asked.map(({ answer }) => answer));
    return new Map(
      candidates.map((candidate) => [candidate, scored.filter((_, i) => asked[i]!.candidate === candidate)]),
    );
  }

  /** What a Python function of one's own looks for and does not find. */
  private patterns(term: RewardTermConfig): { missed: readonly Mismatch[]; most?: number | undefined } {
    const texts = this.forms.textsOf(ownFile(term));
    const name = term.term.params["export"];
    const format = this.forms.of(this.tasks[0]!);
    if (texts === undefined || typeof name !== "string" || format === undefined) return { missed: [] };
    return { missed: mismatches(texts.patternsOf(name), format).missed, most: texts.mostOf(name) };
  }

  private finding(
    term: RewardTermConfig,
    {
      of,
      onlyLines = false,
      ...rest
    }: Pick<FormatFinding, "earned" | "most" | "reason"> & {
      readonly of?: Mismatch | undefined;
      readonly onlyLines?: boolean;
    },
  ): FormatFinding {
    const file = ownFile(term);
    const line = of && this.forms.textsOf(file)?.lineOf(of.pattern.start);
    const place = file === undefined || line === undefined ? placeOf(term) : placeIn(file, line);
    const response = (onlyLines ? this.forms.long : this.forms.plain).of(this.tasks[0]!) ?? "";
    return { term: term.name, ...rest, onlyLines, response, ...(place && { place }) };
  }
}

const isLess = (value: number, than: number): boolean =>
  value < than - Math.max(1e-6, tolerated * Math.max(Math.abs(value), Math.abs(than)));

const rounded = (value: number): number => Number(value.toPrecision(4));

function earningsOf(scored: ReadonlyMap<Candidate, readonly ScoredAnswer[]>, term: string): Earnings {
  return new Map(
    [...scored].map(([candidate, answers]) => {
      const values = answers.flatMap(({ terms }) => terms[term] ?? []);
      const isKnown = values.length > 0 && values.length === answers.length;
      return [candidate, isKnown ? values.reduce((sum, one) => sum + one, 0) / values.length : undefined];
    }),
  );
}

const words =
  "Water runs down to the sea while small boats wait for wind and children count the birds over old grey roofs at noon ";
/** A text of the same length that says nothing. */
const fillerFor = ({ length }: string): string =>
  words.repeat(Math.ceil(length / words.length)).slice(0, length);
