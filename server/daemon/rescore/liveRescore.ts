/** One connection's rescoring: asks for the open configs whose reward is no longer that of their last run. */
import { isDeepStrictEqual } from "node:util";
import { needs } from "../../config/needs.ts";
import type { Rescored, Sweep } from "../../../shared/rollouts/rescore.ts";
import { effective, isObject } from "../../analysis/evidence/json.ts";
import type { RunRecord } from "../../analysis/evidence/record.ts";
import { RunView } from "../../analysis/evidence/view.ts";
import { fileStamp } from "../../lib/growing/fileStamp.ts";
import type { OpenConfig } from "../../language/documents.ts";
import type { LiveRescore, Rescoring } from "../../language/rescoring.ts";
import type { RemoteStore } from "../../store/remote.ts";
import type { OpenFileRuns } from "../fileRuns.ts";
import { Overtaken, type Rescorer } from "./rescorer.ts";
import { rewardFileOf, type RewardFiles } from "../rewardFiles.ts";
import type { RescoreRequest } from "./rescoreWire.ts";

/** What the reward of a rollout, and its advantage, follow from. */
const blocks = ["reward", "advantage", "kl", "mask"] as const;

/** How a config's reward differs from the run's. */
interface Difference {
  /** Equal as long as scoring again gives the same. */
  readonly fingerprint: string;
  readonly changed: readonly string[];
}
interface CachedRescore {
  readonly fingerprint: string;
  readonly changed: readonly string[];
  rescored: Rescored | undefined;
}

export class StoreRescoring implements Rescoring {
  private readonly known = new Map<string, CachedRescore>();
  /** By file, the run whose last step was read before anybody asked. */
  private readonly warmed = new Map<string, string>();
  private readonly listeners = new Set<(file: string) => void>();

  constructor(
    private readonly runs: OpenFileRuns,
    private readonly remote: Pick<RemoteStore, "call">,
    private readonly rescorer: Rescorer,
    private readonly files: RewardFiles,
    /** Whether the person wants notifications. */
    private readonly subscribed: () => boolean,
    private readonly failed: (error: unknown) => void,
  ) {}

  update(config: OpenConfig, trusted: boolean): void {
    const { file } = config;
    const record = this.runs.of(file)?.record;
    const difference =
      record === undefined || record === null || !config.loaded.serves(needs.explained)
        ? undefined
        : this.difference(config, record);
    if (record === undefined || record === null || !this.subscribed()) return this.forget(file);
    if (difference === undefined) {
      this.forget(file);
      // Whoever has started to edit may come to the reward.
      if (config.version > 1) this.warm(config, record, trusted);
      return;
    }
    if (this.known.get(file)?.fingerprint === difference.fingerprint) return;
    const known: CachedRescore = { ...difference, rescored: undefined };
    this.known.set(file, known);
    void this.score(config, record, trusted, known);
  }

  private warm(config: OpenConfig, record: RunRecord, trusted: boolean): void {
    const { id } = record.summary;
    if (this.warmed.get(config.file) === id || record.groups.length === 0) return;
    this.warmed.set(config.file, id);
    this.request(config, record, trusted, { kind: "warm" })
      .then((request) => this.rescorer.ask(`${this.key(config.file)} warm`, request, () => undefined))
      .catch((error: unknown) => this.failed(error));
  }

  forget(file: string): void {
    this.rescorer.cancel(this.key(file));
    if (this.known.delete(file)) this.notify(file);
  }

  of(config: OpenConfig): LiveRescore | undefined {
    const known = this.known.get(config.file);
    const record = this.runs.of(config.file)?.record;
    if (known?.rescored === undefined || record === undefined || record === null) return undefined;
    if (this.difference(config, record)?.fingerprint !== known.fingerprint) return undefined;
    return { rescored: known.rescored, changed: known.changed };
  }

  has({ file }: OpenConfig): boolean {
    return (this.runs.of(file)?.record?.groups.length ?? 0) > 0;
  }

  async sweep(config: OpenConfig, term: string, trusted: boolean): Promise<Sweep | undefined> {
    const record = this.runs.of(config.file)?.record;
    if (record === undefined || record === null || !config.loaded.serves(needs.explained)) return undefined;
    const request = await this.request(config, record, trusted, {
      kind: "sweep",
      term,
      from: undefined,
      to: undefined,
    });
    return (await this.rescorer.ask(`${this.key(config.file)} sweep`, request, () => undefined)).sweep;
  }

  onChange(listener: (file: string) => void): { dispose(): void } {
    this.listeners.add(listener);
    return { dispose: () => void this.listeners.delete(listener) };
  }

  dispose(): void {
    this.listeners.clear();
    for (const file of [...this.known.keys()]) this.forget(file);
  }

  private async score(
    config: OpenConfig,
    record: RunRecord,
    trusted: boolean,
    known: CachedRescore,
  ): Promise<void> {
    try {
      const request = await this.request(config, record, trusted, { kind: "run" });
      // Another edit may have come while the steps were asked for.
      if (this.known.get(config.file) !== known) return;
      await this.rescorer.ask(this.key(config.file), request, (rescored) => {
        known.rescored = rescored;
        this.notify(config.file);
      });
    } catch (error) {
      if (!(error instanceof Overtaken)) this.failed(error);
    }
  }

  private async request(
    { file, text }: OpenConfig,
    { summary, folder, authored, bundles }: RunRecord,
    trusted: boolean,
    want: RescoreRequest["want"],
  ): Promise<RescoreRequest> {
    const steps = await this.remote.call("rolloutSteps", summary.id);
    const run = { id: summary.id, name: summary.name, folder, authored, bundles };
    return { run, steps, file, text, trusted, unsaved: {}, want };
  }

  /** undefined: the reward is the run's. */
  private difference(config: OpenConfig, record: RunRecord): Difference | undefined {
    const view = new RunView(record, 1);
    const { tree } = config.loaded;
    const now = (path: string) => effective(tree, view.stage, path);
    const parts = blocks.map(now);
    const terms = new Set([...termsOf(now("reward.terms")), ...view.keys("reward.terms")]);
    const versions: (string | undefined)[] = [];
    const changed = [...terms].flatMap((term) => {
      const path = `reward.terms."${term}"`;
      const file = rewardFileOf(now(path));
      if (file !== undefined) versions.push(fileStamp(file));
      const same = isDeepStrictEqual(now(path), view.value(path));
      return same && (file === undefined || this.sameFile(file, term, record))
        ? []
        : [`reward.terms.${term}`];
    });
    for (const path of ["reward.combine", "reward.timeout", "advantage", "kl", "mask"])
      if (!isDeepStrictEqual(now(path), view.value(path))) changed.push(path);
    if (changed.length === 0) return undefined;
    return {
      fingerprint: JSON.stringify([record.summary.id, record.summary.step, parts, versions]),
      changed,
    };
  }

  private sameFile(file: string, term: string, { bundles, summary }: RunRecord): boolean {
    const sha256 = bundles[term];
    return sha256 !== undefined && this.files.same(file, sha256, Date.parse(summary.startedAt) || 0);
  }

  /** Two windows may hold different text of one file. */
  private key(file: string): string {
    return `${this.id} ${file}`;
  }
  private readonly id = connections++;

  private notify(file: string): void {
    for (const listener of this.listeners) listener(file);
  }
}

let connections = 0;

const termsOf = (value: ReturnType<typeof effective>): readonly string[] =>
  isObject(value) ? Object.keys(value) : [];
