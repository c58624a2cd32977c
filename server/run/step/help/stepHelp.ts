/** What sources of help and start states may ask of a step: texts that models write, and how likely the policy finds a text. */
import { batchOfTexts, textRecord } from "../../../core/rows/textRows.ts";
import type { Task } from "../../../core/task.ts";
import type { HelpContext, Writing, WrittenText } from "../../../core/slots/guidance.ts";
import type { Policy, Prompt, Sample } from "../../../core/policy.ts";
import { sameTokens } from "../../../engine/tokenizers/index.ts";
import { tokensOf } from "../generate/assemble.ts";
import type { StepContext } from "../context.ts";
import { stepDecoding } from "../generate/decoding.ts";
import { asked } from "../generate/prompts.ts";
import { hasEnded, responseText } from "../../../core/rows/ends.ts";

/** A text that is asked as tasks are. */
const textTask = (prompt: string, begin: string | undefined): Task => ({
  id: "",
  source: "",
  env: "",
  prompt,
  data: {},
  ...(begin !== undefined && { begin }),
});

/** One model's share of what was asked. */
interface Ask {
  readonly at: number;
  readonly ask: Writing;
}

export class StepHelp implements HelpContext {
  /** Tokens that models have written for help. */
  written = 0;

  /** @param plain rollouts without help that are written in the same round */
  constructor(
    private readonly context: StepContext,
    readonly plain = 0,
  ) {}

  get models(): HelpContext["models"] {
    return this.context.session.models;
  }
  get tokenizer(): HelpContext["tokenizer"] {
    return this.context.session.policy.tokenizer;
  }
  get clock(): HelpContext["clock"] {
    return this.context.clock;
  }
  get max_tokens(): number {
    return this.context.stage.config.body.rollout.max_tokens;
  }

  async write(asks: readonly Writing[]): Promise<WrittenText[]> {
    const results: WrittenText[] = [];
    for (const model of new Set(asks.map((ask) => ask.model))) {
      const own = asks.flatMap((ask, at): Ask[] => (ask.model === model ? [{ ask, at }] : []));
      const written = await this.context.watch.time("generate", () => this.writeBy(model, own));
      own.forEach(({ at }, i) => (results[at] = written[i]!));
    }
    return results;
  }

  private async writeBy(name: string, asks: readonly Ask[]): Promise<WrittenText[]> {
    const { models, policy } = this.context.session;
    const there = models.names.includes(name) && name !== "policy";
    const model = there ? models.get(name) : policy;
    const prompts = asks.map(({ ask }) => this.promptFor(model, ask));
    const decode = { ...stepDecoding(this.context), ...(there || name === "policy" ? {} : { model: name }) };
    const samples: Sample[] = [];
    const fits = [...prompts.keys()].filter((i) => lengthOf(prompts[i]!) < model.context);
    for await (const sample of model.generate(
      fits.map((i) => prompts[i]!),
      decode,
    ))
      samples[fits[sample.index]!] = sample;
    return asks.map((_, i) => this.textOf(samples[i], model, name));
  }

  private promptFor({ tokenizer }: Policy, { prompt, begin, lead = [], max_tokens, key }: Writing): Prompt {
    const task = textTask(prompt, begin);
    const question = asked(tokenizer, task, this.context.stage.config.body.rollout);
    const tokens = lead.flatMap((part) => [...tokensOf(part)]);
    const added = this.shares(tokenizer) ? tokens : [...tokenizer.encode(this.tokenizer.decode(tokens))];
    return {
      tokens: question.tokens,
      ...(question.prefix === undefined && added.length === 0
        ? {}
        : { prefix: Int32Array.from([...(question.prefix ?? []), ...added]) }),
      ...(max_tokens !== undefined && { max_tokens }),
      key,
    };
  }

  private shares(tokenizer: Policy["tokenizer"]): boolean {
    return tokenizer === this.tokenizer || sameTokens(tokenizer, this.tokenizer);
  }

  private textOf(sample: Sample | undefined, { tokenizer }: Policy, name: string): WrittenText {
    if (sample === undefined) return { text: "", tokens: new Int32Array(0) };
    this.written += sample.tokens.length;
    const ended = hasEnded(sample.tokens, tokenizer);
    const text = responseText(sample.tokens, tokenizer);
    if (this.shares(tokenizer))
      return { text, tokens: sample.tokens, logp: sample.logp_old, ...(name === "policy" && { sample }) };
    return {
      text,
      tokens: Int32Array.from([...this.tokenizer.encode(text), ...(ended ? [this.tokenizer.eos] : [])]),
    };
  }

  async likelihood(
    rows: Parameters<HelpContext["likelihood"]>[0],
    of: "logp" | "probability" = "logp",
  ): Promise<Float64Array> {
    const { policy, models } = this.context.session;
    const texts = rows.map(({ prompt, begin, before, tokens }) => {
      const task = textTask(prompt, begin);
      const { tokens: question, prefix } = asked(
        policy.tokenizer,
        task,
        this.context.stage.config.body.rollout,
      );
      return { context: [...question, ...(prefix ?? []), ...before], tokens };
    });
    const fits = [...texts.keys()].filter((i) => {
      const { context, tokens } = texts[i]!;
      return tokens.length > 0 && context.length + tokens.length <= policy.context;
    });
    const valueOf = of === "logp" ? (value: number): number => value : Math.exp;
    const means = new Float64Array(rows.length).fill(valueOf(Number.NEGATIVE_INFINITY));
    if (fits.length === 0) return means;
    const batch = batchOfTexts(
      fits.map((i, row) => ({ ...texts[i]!, record: textRecord(textTask("", undefined), row, "") })),
    );
    const { logp } = await this.context.watch.time("score", () =>
      models.get("policy").score(batch, { model: "policy", channels: ["logp"] }),
    );
    fits.forEach((i, row) => {
      const own = logp!.subarray(batch.offsets[row], batch.offsets[row + 1]);
      means[i] = own.reduce((sum, value) => sum + valueOf(value), 0) / own.length;
    });
    return means;
  }
}

const lengthOf = ({ tokens, prefix }: Pick<Prompt, "tokens" | "prefix">): number =>
  tokens.length + (prefix?.length ?? 0);
