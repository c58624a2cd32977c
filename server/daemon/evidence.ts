/** One connection's evidence: what the store knows of the open configs' runs, on their lines as they are now. */
import type { OpenConfig } from "../language/documents.ts";
import type { EvidenceDiagnostic, EvidenceNote, LastRun } from "../analysis/evidence/types.ts";
import { usualEvidence, type Evidence, type EvidenceSettings } from "../language/evidence.ts";
import { fileReference } from "../config/check/method.ts";
import { see, type RunSightings } from "../analysis/evidence/index.ts";
import { effective, isObject } from "../analysis/evidence/json.ts";
import { lastRunOf, readings, type Readings } from "../analysis/evidence/readings.ts";
import type { RunRecord } from "../analysis/evidence/record.ts";
import type { FileRuns } from "../store/queries/evidenceQueries.ts";
import type { OpenFileRuns } from "./fileRuns.ts";
import { RewardFiles } from "./rewardFiles.ts";

export class StoreEvidence implements Evidence {
  private settings = usualEvidence;
  private seen = new WeakMap<RunRecord, RunSightings>();
  private read = new WeakMap<OpenConfig, { readonly record: RunRecord; readonly readings: Readings }>();
  private readonly lastRuns = new WeakMap<FileRuns, LastRun>();
  private readonly listeners = new Set<(file: string) => void>();
  readonly rewardFiles = new RewardFiles(() => this.changed());
  private readonly subscription: { dispose(): void };
  private open: readonly string[] = [];

  constructor(private readonly runs: OpenFileRuns) {
    this.subscription = runs.onChange((file) => {
      if (this.open.includes(file)) this.notify(file);
    });
  }

  /** What the connection has open. */
  follow(files: readonly string[]): void {
    this.open = files;
    this.runs.follow(this, files);
  }

  dispose(): void {
    this.subscription.dispose();
    this.listeners.clear();
    this.runs.leave(this);
  }

  get enabled(): boolean {
    return this.settings.enabled;
  }

  configure(settings: EvidenceSettings): void {
    if (settings.enabled === this.settings.enabled && settings.window === this.settings.window) return;
    this.settings = settings;
    this.seen = new WeakMap();
    this.changed();
  }

  diagnostics(config: OpenConfig): readonly EvidenceDiagnostic[] {
    return this.readings(config)?.diagnostics ?? [];
  }
  notes(config: OpenConfig): readonly EvidenceNote[] {
    return this.readings(config)?.notes ?? [];
  }
  hover(config: OpenConfig, key: string): string | undefined {
    return this.readings(config)?.hover(key);
  }

  lastRun(file: string): LastRun | undefined {
    const runs = this.runs.of(file);
    if (runs === undefined || runs.last === null) return undefined;
    const known = this.lastRuns.get(runs) ?? lastRunOf(runs.last, runs.record);
    this.lastRuns.set(runs, known);
    return known;
  }

  onChange(listener: (file: string) => void): { dispose(): void } {
    this.listeners.add(listener);
    return { dispose: () => void this.listeners.delete(listener) };
  }

  private notify(file: string): void {
    for (const listener of this.listeners) listener(file);
  }

  /** Everything that was read may read otherwise now. */
  private changed(): void {
    this.read = new WeakMap();
    for (const file of this.open) this.notify(file);
  }

  private readings(config: OpenConfig): Readings | undefined {
    const record = this.runs.of(config.file)?.record;
    // While a line is half-written nothing is known of the others' values.
    if (!this.settings.enabled || record === undefined || record === null || config.root === undefined)
      return undefined;
    const known = this.read.get(config);
    if (known?.record === record) return known.readings;
    const seen = this.seen.get(record) ?? see(record, this.settings.window);
    this.seen.set(record, seen);
    const { text, root, loaded } = config;
    const sameFile = (term: string): boolean => this.sameFile(seen, term);
    const found = readings(seen, { text, root, tree: loaded.tree, sameFile }, config.file);
    this.read.set(config, { record, readings: found });
    return found;
  }

  /** Terms that are no file of the user's have none to change. */
  private sameFile({ view }: RunSightings, term: string): boolean {
    const sha256 = view.record.bundles[term];
    const config = effective(view.record.config, view.stage, `reward.terms."${term}"`);
    const use = isObject(config) ? config["use"] : undefined;
    const reference = typeof use === "string" ? fileReference(use) : undefined;
    if (reference === undefined) return true;
    return (
      sha256 !== undefined &&
      this.rewardFiles.same(reference.path, sha256, Date.parse(view.summary.startedAt) || 0)
    );
  }
}
