/** The models of a run: what methods reach by name, what follows their updates, what checkpoints hold besides the policy. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import { contextOf } from "../../algorithm/algorithm.ts";
import { create } from "../../core/create.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type {
  CopiedModelConfig,
  OpenedModelConfig,
  PerceptronModelConfig,
} from "../../core/blocks/models.ts";
import { planMemory } from "../../analysis/memory/estimate.ts";
import { openPolicy, type TrainablePolicy } from "../../engine/index.ts";
import { openPerceptron, type TrainablePerceptron } from "../../engine/perceptron/index.ts";
import { publishWeights, readPublished } from "../../engine/weights/publish.ts";
import { randomStream } from "../../lib/random.ts";
import type { Model } from "../../core/basics.ts";
import type { Models, Perceptron, Policy } from "../../core/policy.ts";
import { sameTokens } from "../../engine/tokenizers/index.ts";
import { ModelView } from "./modelView.ts";
import { checkComparable } from "../../engine/policySetup.ts";
import { openRunPolicy } from "./openPolicy.ts";
import { PerceptronView } from "./perceptronView.ts";
import { fileName, wordOfFile } from "../../../shared/lib/fileName.ts";

/** What the registry asks of a model's engine, whatever it computes. */
type WeightHolder = Pick<
  TrainablePolicy,
  "version" | "snapshots" | "snapshot" | "readTrained" | "writeWeights" | "save" | "load" | "close"
>;
/** A model with weights of its own: the policy, or one that `models` opens. */
interface Common {
  readonly name: Model;
  readonly engine: WeightHolder;
  readonly trains: boolean;
}
type OpenedModel = Common &
  (
    | { readonly kind: "language"; readonly engine: TrainablePolicy }
    | { readonly kind: "perceptron"; readonly engine: TrainablePerceptron }
  );

const snapshotSuffix = ".safetensors";

/** The weights of a snapshot or copy as a file `<name>.safetensors`. */
const saveSnapshot = (engine: WeightHolder, name: string, folder: string): void =>
  publishWeights(join(folder, fileName(name) + snapshotSuffix), {
    version: engine.version,
    weights: engine.readTrained(name),
  });
const restoreSnapshot = (engine: WeightHolder, name: string, folder: string): void =>
  engine.writeWeights(readPublished(placed(folder, name, snapshotSuffix)).weights, name);

/** Earlier versions wrote the name itself, whether or not every system can have it. */
function placed(folder: string, name: string, ending = ""): string {
  const place = join(folder, fileName(name) + ending);
  return existsSync(place) ? place : join(folder, name + ending);
}

export class RunModels implements Models {
  private readonly opened: OpenedModel[] = [];
  private readonly copies: CopiedModelConfig[] = [];
  private readonly views = new Map<Model, ModelView>();
  private readonly perceptrons = new Map<Model, PerceptronView>();

  constructor(readonly policy: TrainablePolicy) {
    this.open({ name: "policy", kind: "language", engine: policy, trains: true });
  }

  get names(): readonly Model[] {
    return [...this.views.keys(), ...this.perceptrons.keys()];
  }
  get(name: Model): Policy {
    return this.views.get(name) ?? this.missing(name, "a language model", [...this.views.keys()]);
  }
  perceptron(name: Model): Perceptron {
    return (
      this.perceptrons.get(name) ??
      this.missing(name, "a multilayer perceptron (`kind: mlp`)", [...this.perceptrons.keys()])
    );
  }
  private missing(name: Model, wanted: string, known: readonly Model[]): never {
    const there = this.names.includes(name);
    throw new UserError(
      there ? `The model ${name} is not ${wanted}.` : `There is no model ${name} in this run.`,
      {
        code: there ? "model-kind" : "model-unknown",
        action:
          known.length === 0
            ? "Add one to `models` in the config."
            : `Add it to \`models\` in the config, or use one of: ${known.join(", ")}.`,
      },
    );
  }
  /** Whether methods may train it. */
  trains(name: Model): boolean {
    return this.opened.some((one) => one.name === name && one.trains);
  }

  add({ name, optimizer }: OpenedModelConfig, engine: TrainablePolicy): void {
    this.open({ name, kind: "language", engine, trains: optimizer !== undefined });
    // Divergences over the whole vocabulary are taken in one program; a model with other tokens has none with the policy.
    if (engine.vocabulary === this.policy.vocabulary && sameTokens(this.policy.tokenizer, engine.tokenizer))
      this.policy.attach(name, engine);
  }
  addPerceptron({ name, optimizer }: PerceptronModelConfig, engine: TrainablePerceptron): void {
    this.open({ name, kind: "perceptron", engine, trains: optimizer !== undefined });
  }
  private open(one: OpenedModel): void {
    this.opened.push(one);
    this.view(one, one.name, "policy", one.trains);
  }
  /** A copy lives as a snapshot of the model it follows, and begins as that model is. */
  async follow(copy: CopiedModelConfig): Promise<void> {
    const of = this.openedAs(copy.of);
    await of.engine.snapshot(copy.name);
    this.copies.push(copy);
    this.view(of, copy.name, copy.name, false);
  }
  private view(of: OpenedModel, name: Model, own: Model, trains: boolean): void {
    const common = { name, own, trains, updated: () => this.updated(name, of.engine) };
    if (of.kind === "perceptron")
      this.perceptrons.set(name, new PerceptronView({ ...common, engine: of.engine }));
    else {
      const comparable = (model: Model): void => this.comparable(model);
      this.views.set(name, new ModelView({ ...common, engine: of.engine, models: this, comparable }));
    }
  }
  /** The policy knows every model that it can be compared with: what is left has a reason. */
  private comparable(name: Model): void {
    const other = this.opened.find((one) => one.name === name);
    if (other?.kind === "language" && other.engine !== this.policy)
      checkComparable(name, other.engine, this.policy);
  }
  private openedAs(name: Model): OpenedModel {
    const found = this.opened.find((one) => one.name === name);
    if (found === undefined) throw new Error(`no model ${name} was opened`);
    return found;
  }

  /** Copies begin again, as the model that each follows is now. */
  async renew(names: readonly Model[]): Promise<void> {
    for (const { name, of } of this.copies)
      if (names.includes(name)) await this.openedAs(of).engine.snapshot(name);
  }

  /**
   * A model that trains takes the weights of another, and its optimiser begins again.
   * @throws UserError where a name is no such model, or the two have other sizes or heads
   */
  init(name: Model, from: Model): void {
    const target = this.opened.find((one) => one.name === name);
    const source = this.opened.find((one) => one.name === from);
    const known = this.opened.flatMap((one) => (one.kind === "language" ? [one.name] : []));
    if (target?.kind !== "language" || !target.trains || name === "policy")
      this.missing(name, "a language model that trains, other than the policy", known);
    if (source?.kind !== "language") return void this.missing(from, "a language model", known);
    const [own, taken] = [target.engine.readTrained(), source.engine.readTrained()];
    const apart = Object.keys({ ...own, ...taken }).find((one) => own[one]?.length !== taken[one]?.length);
    if (apart !== undefined)
      throw new UserError(`${name} cannot begin as ${from}: they differ in ${apart}.`, {
        code: "model-init",
        action: `Give both the same base, sizes and \`value_heads\`, or leave ${name} out of \`on_enter.init\`.`,
      });
    target.engine.writeWeights(taken);
    target.engine.resetOptimizer();
  }

  /** Moves the copies of a model that are due after its latest update. */
  private async updated(name: Model, engine: WeightHolder): Promise<void> {
    for (const { name: copy, of, decay, every } of this.copies)
      if (of === name && engine.version % every === 0) await engine.snapshot(copy, decay);
  }

  /**
   * Everything but the policy's own weights and its reference, which are kept elsewhere: trained models as folders
   * (`models/<name>`, as the policy's), snapshots and copies as files (`snapshots/<of>/<name>.safetensors`).
   */
  async save(folder: string): Promise<void> {
    for (const { name, engine, trains } of this.opened) {
      if (trains && name !== "policy") await engine.save(join(folder, "models", fileName(name)));
      for (const snapshot of engine.snapshots) {
        if (name === "policy" && snapshot === "reference") continue;
        saveSnapshot(engine, snapshot, join(folder, "snapshots", fileName(name)));
      }
    }
  }
  /** The copies of a model alone, as files `<name>.safetensors`. */
  saveCopies(of: Model, folder: string): void {
    const { engine } = this.openedAs(of);
    for (const { name } of this.copies.filter((one) => one.of === of)) saveSnapshot(engine, name, folder);
  }
  restoreCopies(of: Model, folder: string): void {
    const { engine } = this.openedAs(of);
    for (const { name } of this.copies.filter((one) => one.of === of)) restoreSnapshot(engine, name, folder);
  }
  /**
   * Takes up what `save` wrote. A model that the config has gained since begins as its base.
   * @throws UserError where the config has lost one
   */
  async restore(folder: string): Promise<void> {
    this.checkAllKnown(folder);
    for (const { name, engine, trains } of this.opened) {
      const own = placed(join(folder, "models"), name);
      if (trains && name !== "policy" && existsSync(own)) await engine.load(own);
      const snapshots = placed(join(folder, "snapshots"), name);
      for (const file of existsSync(snapshots) ? readdirSync(snapshots) : [])
        restoreSnapshot(engine, wordOfFile(file.slice(0, -snapshotSuffix.length)), snapshots);
    }
  }

  private checkAllKnown(folder: string): void {
    const kept = join(folder, "models");
    const trained = this.opened.filter(({ trains }) => trains).map(({ name }): string => name);
    const lost = (existsSync(kept) ? readdirSync(kept) : [])
      .map(wordOfFile)
      .filter((name) => !trained.includes(name));
    if (lost.length === 0) return;
    const names = lost.join(", ");
    throw new UserError(
      `The checkpoint ${folder} holds the trained ${lost.length === 1 ? "model" : "models"} ${names}, which the config no longer trains: what the run learned would be lost.`,
      {
        file: kept,
        code: "checkpoint-unclaimed",
        action: `Put models.${lost[0]!} back as it was, with trains: true, then resume; or start a new run with model.base: ${folder}.`,
      },
    );
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
    for (const model of config.models) {
      if (model.kind === "opened") await openOne(config, model, models);
      if (model.kind === "perceptron") openSmall(config, model, models);
    }
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
    sharesWith: models.policy,
  });
  models.add(model, engine);
}

function openSmall(config: RunConfig, model: PerceptronModelConfig, models: RunModels): void {
  const body = config.stages[0]?.body ?? config.top;
  const random = randomStream(config.seed, "optimizer", model.name);
  const engine = openPerceptron({
    shape: model.shape,
    // Nothing updates a frozen one: its optimiser is never asked.
    optimizer: create(model.optimizer ?? body.update.optimizer, contextOf(body, { random })),
    seed: randomStream(config.seed, "model", model.name).integer(2 ** 31),
    sharesWith: models.policy,
  });
  models.addPerceptron(model, engine);
}
