/** Reference answers in the format that their prompts show, and in forms next to it that a reward may want instead. */
import type { StageBody } from "../../../core/config/resolved.ts";
import type { Task } from "../../../core/task.ts";
import type { GoldForm } from "../forms/goldForms.ts";
import { isPython } from "../../../lib/notebook/notebook.ts";
import { ownFile, sourceOf } from "../ownFiles.ts";
import { longWork, shortWork } from "./mismatch.ts";
import { PythonTexts } from "./pythonTexts.ts";
import { shownFormat, workMark, written, type ShownFormat } from "./shownFormat.ts";

/** The prompts' format with a change; what the change was completes "…, it earns 1". */
export interface Variant extends GoldForm {
  readonly change: string;
}

/** Completes "the gold answers, written …". */
const inFormat = "in the format that the prompt shows";

/** Tokens that a chat template ends a turn with: a completion that is decoded has none. */
const endTokens = ["<|im_end|>", "<|eot_id|>", "<|endoftext|>", "<end_of_turn>", "</s>"];

const tag = /<\/?[A-Za-z][\w-]{0,30}>/g;
const linesOf = (text: string): string[] =>
  text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
const flat = (text: string, by: string): string => linesOf(text).join(by);
/** Each tag on a line of its own. */
const apart = (text: string): string => flat(text.replaceAll(tag, "\n$&\n"), "\n");

const changes: readonly (readonly [change: string, of: (text: string) => string])[] = [
  ["without line breaks", (text) => flat(text, "")],
  ["with blanks for line breaks", (text) => flat(text, " ")],
  ["with a line break at the end", (text) => `${text}\n`],
  ["with each tag on a line of its own", apart],
  ["with each tag on a line of its own and a line break at the end", (text) => `${apart(text)}\n`],
  ["with lower-case tags", (text) => text.replaceAll(tag, (one) => one.toLowerCase())],
  ["with upper-case tags", (text) => text.replaceAll(tag, (one) => one.toUpperCase())],
  ...endTokens.map((token): [string, (text: string) => string] => [
    `with \`${token}\` at the end`,
    (text) => `${text}${token}`,
  ]),
];

export class PromptForms {
  private readonly formats = new Map<string, ShownFormat | null>();
  private readonly texts = new Map<string, PythonTexts>();

  constructor(private readonly body: StageBody) {}

  /** Work of one line, as short as it can be. */
  readonly plain: GoldForm = this.form(inFormat, (format, answer) => written(format, answer, shortWork));

  /** The same without the first tag, where a reward may write that itself, as a prompt that ends with it does. */
  readonly begunByReward: GoldForm = this.form(inFormat, (format, answer) => {
    const [first = ""] = format.markers;
    const isBegun = format.template.startsWith(first) && this.allTexts.some((texts) => texts.begins(first));
    return isBegun ? written(format, answer, shortWork).slice(first.length) : undefined;
  });

  readonly long: GoldForm = this.form(inFormat, (format, answer) =>
    written(format, answer, format.hasLines ? longWork : shortWork),
  );

  /** Those that change nothing write nothing. */
  get variants(): readonly Variant[] {
    const bare = "without any work before the answer";
    const changed = changes.map(([change, of]) =>
      this.variant(change, (format, answer) => of(written(format, answer, shortWork))),
    );
    return [
      ...changed,
      this.variant(bare, (format, answer) =>
        format.template.startsWith(`${workMark}\n`) ? written(format, answer, "").trimStart() : undefined,
      ),
    ];
  }

  /** What the task's prompt shows, else a prompt that the reward's own file writes. */
  of(task: Task): ShownFormat | undefined {
    const { system = "" } = this.body.rollout;
    const prompt = `${system}\n\n${task.prompt}`;
    const known = this.formats.get(prompt);
    if (known !== undefined) return known ?? undefined;
    const found = shownFormat(prompt) ?? this.ofFiles;
    const format = found && this.begun(found, task);
    this.formats.set(prompt, format ?? null);
    return format;
  }

  /** @returns undefined: the term is no Python of one's own */
  textsOf(file: string | undefined): PythonTexts | undefined {
    const source = file !== undefined && isPython(file) ? sourceOf(file) : undefined;
    if (file === undefined || source === undefined) return undefined;
    const known = this.texts.get(file) ?? new PythonTexts(source);
    this.texts.set(file, known);
    return known;
  }

  private get allTexts(): PythonTexts[] {
    return [...new Set(this.body.reward.terms.flatMap((term) => this.textsOf(ownFile(term)) ?? []))];
  }

  private get ofFiles(): ShownFormat | undefined {
    const prompts = this.allTexts.flatMap((texts) => texts.prompts());
    return prompts.map(({ text }) => shownFormat(text)).find((format) => format !== undefined);
  }

  /** Without the tag that the prompt, or the reward, writes in the answer's place. */
  private begun(format: ShownFormat, { prompt, begin = "" }: Task): ShownFormat {
    const [first] = format.markers;
    const isBegun =
      first !== undefined &&
      format.template.startsWith(first) &&
      [prompt, begin].some((text) => text.trimEnd().endsWith(first));
    return isBegun ? { ...format, template: format.template.slice(first.length) } : format;
  }

  private variant(
    change: string,
    write: (format: ShownFormat, answer: string) => string | undefined,
  ): Variant {
    const changed = (format: ShownFormat, answer: string): string | undefined => {
      const text = write(format, answer);
      return text === written(format, answer, shortWork) ? undefined : text;
    };
    return { ...this.form(`${inFormat}, ${change}`, changed), change };
  }

  private form(name: string, write: (format: ShownFormat, answer: string) => string | undefined): GoldForm {
    const fill = (task: Task, answer: string | undefined): string | undefined => {
      const format = answer === undefined ? undefined : this.of(task);
      return format === undefined ? undefined : write(format, answer!);
    };
    return { name, of: (task) => fill(task, task.answer), with: fill };
  }
}
