/** One model of a run as methods see it: other models may be named wherever a model is, whoever holds their weights. */
import { UserError } from "../../../shared/lib/errors.ts";
import { comparedModel } from "../../core/channelNames.ts";
import type { TrainablePolicy } from "../../engine/index.ts";
import { checkSameTokens } from "../../engine/tokenizers/index.ts";
import { channelsOfActions, gradientsOfChoices, statsOfChoices } from "../../algorithm/loss/choices.ts";
import { hasChoices, withAlternatives } from "../../core/rows/choices.ts";
import { asReadBy, readerName, readerOf } from "../../core/rows/reader.ts";
import { frozen, type ViewSetup } from "./perceptronView.ts";
import type { Angles, Pooling, Questioned } from "../../core/states.ts";
import type { Model } from "../../core/basics.ts";
import type { Batch } from "../../core/rollouts.ts";
import type {
  Channel,
  DecodeOptions,
  Models,
  Policy,
  Prompt,
  PromptFeed,
  Sample,
  Stats,
  Tokenizer,
  UpdatePlan,
  UpdateStats,
  Weigh,
} from "../../core/policy.ts";

interface ModelViewSetup extends ViewSetup<TrainablePolicy> {
  readonly models: Models;
  /** @throws UserError where the engine has no divergence from a model, saying why */
  readonly comparable: (model: Model) => void;
}

const comparedBy = (channel: Channel): Model | undefined => {
  const name = comparedModel(channel);
  return name === undefined ? undefined : readerOf(name).model;
};
const otherModel = (channel: Channel): Model | undefined =>
  channel.startsWith("logp:") ? channel.slice("logp:".length) : undefined;

export class ModelView implements Policy {
  constructor(private readonly setup: ModelViewSetup) {}

  get tokenizer(): Tokenizer {
    return this.setup.engine.tokenizer;
  }
  get context(): number {
    return this.setup.engine.context;
  }
  get version(): number {
    return this.setup.engine.version;
  }

  /** The engine's name of a model whose weights it holds. */
  private held(model: Model): Model | undefined {
    if (model === this.setup.name) return this.setup.own;
    return this.setup.engine.snapshots.includes(model) ? model : undefined;
  }

  generate(prompts: readonly Prompt[] | PromptFeed, decode: DecodeOptions): AsyncIterable<Sample> {
    const { name, engine, models } = this.setup;
    const model = decode.model ?? name;
    const held = this.held(model);
    // What perturbs a model are its own heads, and what shifts logits is for the policy: others write as they are.
    const { perturb, logits_shift, ...plain } = decode;
    const own = {
      ...plain,
      ...(model === name && perturb !== undefined && { perturb }),
      ...(model === "policy" && name === "policy" && logits_shift !== undefined && { logits_shift }),
    };
    if (held === undefined) return models.get(model).generate(prompts, own);
    return engine.generate(prompts, { ...own, model: held });
  }

  /** Of a turn that was drawn among actions: what the model says of the choice. */
  async score(
    batch: Batch,
    ask: { readonly model: Model; readonly channels: readonly Channel[] },
  ): Promise<Stats> {
    if (!hasChoices(batch)) return this.scoreTokens(batch, ask);
    const { whole, choices } = withAlternatives(batch, this.tokenizer);
    const channels = channelsOfActions(ask.channels);
    const stats = await this.scoreTokens(whole, { ...ask, channels });
    return statsOfChoices(stats, choices, batch.tokens.length, ask.channels);
  }

  private async scoreTokens(
    batch: Batch,
    { model, channels }: { readonly model: Model; readonly channels: readonly Channel[] },
  ): Promise<Stats> {
    const { engine, models } = this.setup;
    const reader = readerOf(model);
    const held = this.held(reader.model);
    if (held === undefined) {
      const other = models.get(reader.model);
      // Log-probs of the same tokens are only comparable where the tokens mean the same.
      checkSameTokens(
        { name: `The model ${this.setup.name}`, tokenizer: this.tokenizer },
        { name: `the model ${reader.model}`, tokenizer: other.tokenizer },
        {
          code: "model-tokenizer",
          so: "one cannot score what the other generated",
          action: `Give models.${reader.model} a base with the same tokenizer as ${this.setup.name}.`,
        },
      );
      return other.score(asReadBy(model, batch), { model: reader.model, channels });
    }
    const { own, others } = await this.divided(batch, channels);
    return {
      ...(own.length === 0
        ? {}
        : await engine.score(batch, { model: readerName({ ...reader, model: held }), channels: own })),
      ...others,
    };
  }

  angles(prompts: readonly Questioned[], model: Model = this.setup.name): Promise<Angles> {
    const { engine, models } = this.setup;
    const held = this.held(model);
    return held === undefined ? models.get(model).angles(prompts) : engine.angles(prompts, held);
  }

  embed(
    texts: readonly Int32Array[],
    pooling: Pooling,
    model: Model = this.setup.name,
  ): Promise<readonly Float32Array[]> {
    const { engine, models } = this.setup;
    const held = this.held(model);
    return held === undefined ? models.get(model).embed(texts, pooling) : engine.embed(texts, pooling, held);
  }

  nextLogits(texts: readonly Int32Array[], model: Model = this.setup.name): Promise<readonly Float32Array[]> {
    const { engine, models } = this.setup;
    const held = this.held(model);
    return held === undefined ? models.get(model).nextLogits(texts) : engine.nextLogits(texts, held);
  }

  /** Channels that the engine computes, and those of models elsewhere, computed. */
  private async divided(
    batch: Batch,
    channels: readonly Channel[],
  ): Promise<{ readonly own: readonly Channel[]; readonly others: Stats }> {
    const { engine } = this.setup;
    const own: Channel[] = [];
    const others: Partial<Record<Channel, Float64Array>> = {};
    for (const channel of channels) {
      const compared = comparedBy(channel);
      if (compared !== undefined) this.setup.comparable(compared);
      const model = otherModel(channel);
      if (model === undefined || engine.snapshots.includes(readerOf(model).model)) own.push(channel);
      else {
        const { logp } = await this.score(batch, { model, channels: ["logp"] });
        if (logp !== undefined) others[channel] = logp;
      }
    }
    return { own, others };
  }

  async update(batch: Batch, plan: UpdatePlan, weigh: Weigh): Promise<UpdateStats> {
    if (!hasChoices(batch)) return this.updateTokens(batch, plan, weigh);
    const { whole, choices } = withAlternatives(batch, this.tokenizer);
    const channels = channelsOfActions(plan.channels);
    // What generation stored is of the choices, not of their tokens.
    return this.updateTokens(whole, { ...plan, channels, fresh: false }, (now) => {
      const stats = statsOfChoices(now, choices, batch.tokens.length, plan.channels);
      return gradientsOfChoices(weigh(stats, batch), now.logp!, choices);
    });
  }

  private async updateTokens(batch: Batch, plan: UpdatePlan, weigh: Weigh): Promise<UpdateStats> {
    const { name, engine, trains, updated } = this.setup;
    if (!trains) throw frozen(name);
    const { own, others } = await this.divided(batch, plan.channels);
    const before = engine.version;
    const stats = await engine.update(batch, { ...plan, channels: own }, (now, whole) =>
      weigh({ ...now, ...others }, whole),
    );
    if (engine.version !== before) await updated();
    return stats;
  }

  async snapshot(name: Model, decay?: number): Promise<void> {
    if (this.setup.own !== "policy")
      throw new UserError(`The model ${this.setup.name} is a copy, of which no snapshot is taken.`, {
        code: "model-copy",
        action: "Take the snapshot of the model that it follows.",
      });
    if (this.setup.models.names.includes(name))
      throw new UserError(`A snapshot cannot be called ${name}: \`models\` has a model of that name.`, {
        code: "model-name",
        action: "Rename the model in the config.",
      });
    await this.setup.engine.snapshot(name, decay);
  }
}
