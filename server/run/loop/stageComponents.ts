/** The methods of one stage, and what outlives it: curricula, scorers and task sources that later stages share. */
import type { Stage } from "../step/context.ts";
import { fingerprint } from "../../core/fingerprint.ts";
import { Algorithm, contextOf } from "../../algorithm/algorithm.ts";
import { create } from "../../core/create.ts";
import { Curriculum } from "../../algorithm/curriculum/curriculum.ts";
import { openSources } from "../../algorithm/curriculum/openSources.ts";
import { branches } from "../../core/config/branchFacts.ts";
import { playsEnvironment } from "../../core/config/shapeFacts.ts";
import { stageBefore } from "../../config/build/crossfade.ts";
import type { OptimizerChoice } from "../../core/slots/optimizer.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import type { Memory } from "../../methods/replay/memory.ts";
import type { Branching } from "../../core/slots/branching.ts";
import { Scorer } from "../../algorithm/rewards/scoring.ts";
import { Calibration } from "../step/score/calibration.ts";
import type { Start } from "../../core/slots/guidance.ts";
import type { Saved } from "../../core/basics.ts";
import type { GeneratedTasks } from "../../methods/generation/generatedTasks.ts";
import type { Sharing } from "../../algorithm/curriculum/openTasks.ts";
import { capacities, Ledger, sourcesOf } from "../../algorithm/curriculum/ledger.ts";
import { AuxiliaryLosses } from "../stages/auxiliary.ts";
import { prepareAuxiliary, prepareReplay } from "./prepare.ts";
import { EpisodeHosts } from "../environments/episodeHosts.ts";
import { Harness } from "../harness/harness.ts";
import type { PolicyServer } from "../harness/policyServer.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { Guide } from "../step/help/guide.ts";
import { boundarySlots, lastingSlots, slotOf, stateKeys, type Slot } from "../checkpoint/identity.ts";
import { SharedByFingerprint } from "../../core/state/sharedByFingerprint.ts";
import { memoryOf, Replay } from "../step/replay/replay.ts";
import type { StartNote } from "../models/trainable.ts";
import type { CreateContext } from "../../core/declaration.ts";

const leftOutOfHelp = (message: string): StartNote => ({
  name: "rollouts-left-out",
  message: `${message}.`,
  action: "Name a log of rollouts that trained.",
});

/** What is made outside of any stage. */
interface Outside extends Required<Pick<CreateContext, "random" | "models" | "tokenizer">> {
  /** The policy as a server, for agent harnesses; it starts when it is first asked. */
  readonly server?: PolicyServer;
}

const noServer = (): UserError =>
  new UserError("rollout.use: harness needs a run, whose policy a program can call.", {
    code: "harness-server",
    action: "Start a run, or choose `rollout.use: engine`.",
  });

/** Makes the methods of stages, once for each distinct choice, and saves those with state. */
export class StageComponents {
  private readonly calibration = new Calibration();
  private readonly ledger = new Ledger();
  /** State of a checkpoint by key, of slots that a step puts back when it is given up. */
  private readonly restored = new Map<string, Saved>();
  /** The same of slots that a step adds to only when it is done. */
  private readonly restoredLasting = new Map<string, Saved>();
  /** Tasks made in the run: stages that ask for them alike go on with what was seen and made. */
  private readonly generated = new SharedByFingerprint<GeneratedTasks>(this.restored);
  private readonly curricula = new SharedByFingerprint<Curriculum>(this.restored);
  private readonly algorithms = new SharedByFingerprint<Algorithm>(this.restored);
  private readonly starts = new SharedByFingerprint<Start>(this.restored);
  private readonly guides = new SharedByFingerprint<Guide | undefined>(this.restored);
  private readonly memories = new SharedByFingerprint<Memory>(this.restoredLasting);
  private readonly auxiliaries = new SharedByFingerprint<AuxiliaryLosses>(this.restoredLasting);
  private readonly scorers = new SharedByFingerprint<Scorer>();
  private readonly allHosts = new SharedByFingerprint<EpisodeHosts>();
  private readonly harnesses = new SharedByFingerprint<Harness>();

  /** @param outside what methods are made with */
  constructor(private readonly outside: Outside) {}

  context(body: StageBody): CreateContext {
    return contextOf(body, this.outside);
  }

  /** @param stages of the whole run, where the stage is to know of others */
  stage(config: StageConfig, stages: readonly StageConfig[] = []): Stage {
    const { body } = config;
    const index = stages.indexOf(config);
    const capacity = capacities(stages)[index] ?? 0;
    const before = stageBefore(stages, index);
    const { carryOver } = config.on_enter;
    return {
      config,
      context: this.context(body),
      algorithm: this.algorithm(body),
      curriculum: this.curriculum(body),
      scorer: this.scorer(body),
      replay: this.replay(body),
      auxiliary: this.auxiliary(body),
      guide: this.guide(body),
      start: this.start(body),
      shape: create(body.rollout.shape, this.context(body)),
      hosts: this.hosts(body),
      harness: this.harness(body),
      branching: this.branching(body),
      calibration: this.calibration,
      fading:
        config.crossfade?.tasks === true && before !== undefined ? this.curriculum(before.body) : undefined,
      carried: carryOver && {
        share: carryOver.share,
        candidates: this.ledger.candidates(sourcesOf(stages, index, carryOver), carryOver),
      },
      remember: (groups) => this.ledger.observe(index, groups, capacity),
    };
  }

  /** A stage or a setting that changes nothing of the advantage goes on with what its baseline remembers. */
  private algorithm(body: StageBody): Algorithm {
    return this.algorithms.renew(stateKeys.algorithm(body), () => new Algorithm(body, this.context(body)));
  }
  /** Stages whose rollouts come from the same place and are kept by the same rule share what they keep. */
  replay(body: StageBody): Replay {
    const context = this.context(body);
    const memory = this.memories.get(stateKeys.replay(body), () => memoryOf(body.replay, context));
    return new Replay(body.replay, memory, context);
  }
  auxiliary(body: StageBody): AuxiliaryLosses {
    const make = (): AuxiliaryLosses => new AuxiliaryLosses(body.auxiliary, this.context(body));
    return this.auxiliaries.get(stateKeys.auxiliary(body), make);
  }

  /** Optimisers that auxiliary losses have for themselves, by their names. */
  optimizers(): Map<string, OptimizerChoice> {
    const own = this.auxiliaries.values.flatMap(({ demonstrations }) => demonstrations);
    return new Map(
      own.flatMap(({ name, optimizer }) => (optimizer === undefined ? [] : [[name, optimizer]])),
    );
  }

  /**
   * Reads the files that replay, auxiliary losses and guidance name.
   * @param top what evaluation asks is its
   * @returns what to tell of them
   */
  async prepare(body: StageBody, top: StageBody): Promise<readonly StartNote[]> {
    const context = this.context(body);
    const reader = {
      body,
      policy: this.outside.models.get("policy"),
      algorithm: new Algorithm(body, context),
      evaluated: openSources(top.tasks, this.context(top)).map(({ source }) => source),
    };
    return [
      ...(await prepareReplay(this.replay(body), reader)),
      ...(await prepareAuxiliary(this.auxiliary(body), reader)),
      ...(this.guide(body)?.source.prepare?.() ?? []).map(leftOutOfHelp),
    ];
  }

  curriculum(body: StageBody): Curriculum {
    return this.curricula.get(stateKeys.curriculum(body), () => {
      const context = this.context(body);
      const made = new Curriculum(body.curriculum, openSources(body.tasks, context, this.sharing), context);
      made.record();
      return made;
    });
  }
  private readonly sharing: Sharing = (likeness, make) =>
    this.generated.get(stateKeys.generated(likeness), make);

  /** Stages that are helped alike go on with what their guidance knows. */
  private guide(body: StageBody): Guide | undefined {
    return this.guides.get(stateKeys.guidance(body), () => Guide.of(body, this.context(body)));
  }
  /** Branching knows nothing from one step to the next. */
  private branching(body: StageBody): Branching | undefined {
    return branches(body.rollout) ? create(body.rollout.branch, this.context(body)) : undefined;
  }
  /** Stages that draw alike from the same tasks go on with what their start states know. */
  private start(body: StageBody): Start {
    return this.starts.get(stateKeys.start(body), () => create(body.curriculum.start, this.context(body)));
  }
  scorer(body: StageBody): Scorer {
    // A term's weight is the algorithm's: another one needs no other scorer.
    const terms = body.reward.terms.map((term) => ({ ...term, weight: 1 }));
    const { group, max_tokens } = body.rollout;
    return this.scorers.get(
      fingerprint([{ ...body.reward, terms }, group, max_tokens]),
      () => new Scorer(body.reward, this.context(body)),
    );
  }

  /** What answers episodes; undefined: the stage's shape asks for nobody. */
  hosts(body: StageBody): EpisodeHosts | undefined {
    if (!playsEnvironment(body.rollout)) return undefined;
    const tasks = body.tasks.map(({ name, source, play }) => ({ name, source, play }));
    return this.allHosts.get(
      fingerprint([tasks, body.rollout.tools]),
      () => new EpisodeHosts(body, this.context(body)),
    );
  }

  /** The program that plays episodes; undefined: the engine does. @throws UserError where nothing can serve the policy */
  harness({ rollout }: StageBody): Harness | undefined {
    const { use, command, warm, parallel, calls, wait } = rollout;
    if (use !== "harness" || command === undefined) return undefined;
    const { server } = this.outside;
    if (server === undefined) throw noServer();
    const config = { command, warm, parallel, calls, wait };
    return this.harnesses.get(fingerprint(config), () => new Harness(config, server));
  }

  /** All state: of curricula, and of what lasts. */
  save(): Record<string, Saved> {
    const ledger = this.ledger.empty ? {} : { ledger: this.ledger.save() };
    const lasting = [...this.memories.saved(), ...this.auxiliaries.saved()];
    return { ...this.boundary(), ...ledger, ...Object.fromEntries([...this.restoredLasting, ...lasting]) };
  }

  /** What a step that is given up must not have changed. */
  boundary(): Record<string, Saved> {
    const made = this.ofBoundary.flatMap((shared) => shared.saved());
    return Object.fromEntries([["mismatch", this.calibration.save()], ...this.restored, ...made]);
  }
  private get ofBoundary(): readonly { saved(): [string, Saved][]; restore(): void }[] {
    return [this.generated, this.curricula, this.algorithms, this.starts, this.guides];
  }

  load(saved: Readonly<Record<string, Saved>>): void {
    const { mismatch, ledger } = saved;
    if (mismatch !== undefined) this.calibration.load(mismatch);
    if (ledger !== undefined) this.ledger.load(ledger);
    replace(this.restored, stateOf(saved, boundarySlots));
    // A curriculum that is put back looks at the tasks there are.
    for (const shared of this.ofBoundary) shared.restore();
    const lasting = stateOf(saved, lastingSlots);
    if (lasting.length === 0) return;
    replace(this.restoredLasting, lasting);
    this.memories.restore();
    this.auxiliaries.restore();
  }

  /** Ends the processes of user rewards, environments and tools. */
  async close(): Promise<void> {
    await Promise.all(
      [...this.scorers.values, ...this.allHosts.values, ...this.harnesses.values].map((one) => one.close()),
    );
  }
}

const stateOf = (saved: Readonly<Record<string, Saved>>, slots: readonly Slot[]): [string, Saved][] =>
  Object.entries(saved).filter(([key]) => slots.some((slot) => slot === slotOf(key)));

function replace(map: Map<string, Saved>, entries: readonly (readonly [string, Saved])[]): void {
  map.clear();
  for (const [key, saved] of entries) map.set(key, saved);
}
