/** The models of a run: what methods reach by name, what follows their updates, what checkpoints hold besides the policy. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../shared/errors.ts";
import { contextOf, create } from "../algorithm.ts";
import type { CopiedModelConfig, OpenedModelConfig, RunConfig } from "../config/resolved.ts";
import { planMemory } from "../memory.ts";
import { openPolicy, type TrainablePolicy } from "../policy/index.ts";
import { publishWeights, readPublished } from "../policy/publish.ts";
import { randomStream } from "../random.ts";
import type { Model, Models, Policy } from "../seams.ts";
import { sameTokens } from "../policy/tokenizers/index.ts";
import { ModelView } from "./modelView.ts";
import { openRunPolicy } from "./openPolicy.ts";

/** A model with weights of its own: the policy, or one that `models` opens. */
interface Opened {
  readonly name: Model;
  readonly engine: TrainablePolicy;
  readonly trains: boolean;
}

const snapshotSuffix = ".safetensors";

export class RunModels implements Models {
  private readonly opened: Opened[];
  private readonly copies: CopiedModelConfig[] = [];
  private readonly views = new Map<Model, ModelView>();

  constructor(readonly policy: TrainablePolicy) {
    this.opened = [{ name: "policy", engine: policy, trains: true }];
    this.view("policy", policy, "policy", true);
  }

  get names(): readonly Model[] {
    return [...this.views.keys()];
  }
  get(name: Model): Policy {
    const found = this.views.get(name);
    if (found !== undefined) return found;
    throw new UserError(`There is no model ${name} in this run.`, {
      code: "model-unknown",
      action: `Add it to \`models\` in the config, or use one of: ${this.names.join(", ")}.`,
    });
  }
  /** Whether methods may train it. */
  trains(name: Model): boolean {
    return this.opened.some((one) => one.name === name && one.trains);
  }

  add({ name, optimizer }: OpenedModelConfig, engine: TrainablePolicy): void {
    const trains = optimizer !== undefined;
    this.opened.push({ name, engine, trains });
    this.view(name, engine, "policy", trains);
    // Divergences over the whole vocabulary are taken in one program; a model with other tokens has none with the policy.
    if (engine.vocabulary === this.policy.vocabulary && sameTokens(this.policy.tokenizer, engine.tokenizer))
      this.policy.attach(name, engine);
  }
  /** A copy lives as a snapshot of the model it follows, and begins as that model stands. */
  async follow(copy: CopiedModelConfig): Promise<void> {
    const { engine } = this.openedAs(copy.of);
    await engine.snapshot(copy.name);
    this.copies.push(copy);
    this.view(copy.name, engine, copy.name, false);
  }
  private view(name: Model, engine: TrainablePolicy, own: Model, trains: boolean): void {
    const updated = (): Promise<void> => this.updated(name, engine);
    this.views.set(name, new ModelView({ name, engine, own, trains, models: this, updated }));
  }
  private openedAs(name: Model): Opened {
    const found = this.opened.find((one) => one.name === name);
    if (found === undefined) throw new Error(`no model ${name} was opened`);
    return found;
  }

  /** Moves the copies of a model that are due after its latest update. */
  private async updated(name: Model, engine: TrainablePolicy): Promise<void> {
    for (const { name: copy, of, decay, every } of this.copies)
      if (of === name && engine.version % every === 0) await engine.snapshot(copy, decay);
  }

  /**
   * Everything but the policy's own weights and its reference, which are kept elsewhere: trained models as folders
   * (`models/<name>`, as the policy's), snapshots and copies as files (`snapshots/<of>/<name>.safetensors`).
   */
  async save(folder: string): Promise<void> {
    for (const { name, engine, trains } of this.opened) {
      if (trains && name !== "policy") await engine.save(join(folder, "models", name));
      for (const snapshot of engine.snapshots) {
        if (name === "policy" && snapshot === "reference") continue;
        publishWeights(join(folder, "snapshots", name, snapshot + snapshotSuffix), {
          version: engine.version,
          weights: engine.readTrained(snapshot),
        });
      }
    }
  }
  /** Takes up what `save` wrote. A model that the config has gained since begins as its base. */
  async restore(folder: string): Promise<void> {
    for (const { name, engine, trains } of this.opened) {
      const own = join(folder, "models", name);
      if (trains && name !== "policy" && existsSync(own)) await engine.load(own);
      const snapshots = join(folder, "snapshots", name);
      for (const file of existsSync(snapshots) ? readdirSync(snapshots) : [])
        engine.writeWeights(
          readPublished(join(snapshots, file)).weights,
          file.slice(0, -snapshotSuffix.length),
        );
    }
  }

  /** The policy last: the others use its device. */
  close(): void {
    for (const { engine } of [...this.opened].reverse()) engine.close();
  }
}

/**
 * Opens the policy and every model of the registry, on one device.
 * @param policy instead of the config's own: what `evaluate` measures
 * @throws UserError for a base that is missing or cannot be read
 */
export async function openModels(config: RunConfig, policy?: TrainablePolicy): Promise<RunModels> {
  const models = new RunModels(policy ?? (await openRunPolicy(config)));
  try {
    for (const model of config.models) if (model.kind === "opened") await openOne(config, model, models);
    for (const model of config.models) if (model.kind === "copy") await models.follow(model);
    return models;
  } catch (error) {
    models.close();
    throw error;
  }
}

async function openOne(config: RunConfig, model: OpenedModelConfig, models: RunModels): Promise<void> {
  const body = config.stages[0]?.body ?? config.top;
  const random = randomStream(config.seed, "optimizer", model.name);
  const engine = await openPolicy({
    model: model.model,
    // Nothing updates a frozen model: its optimiser is never asked.
    optimizer: create(model.optimizer ?? body.update.optimizer, contextOf(body, { random })),
    backend: config.engine.backend,
    threads: config.engine.threads,
    seed: randomStream(config.seed, "model", model.name).integer(2 ** 31),
    ...planMemory(config).budget,
    beside: models.policy,
  });
  models.add(model, engine);
}
