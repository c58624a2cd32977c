/** What the checks of rewards have found so far, by config, as lists by file. Pure. */
import type { RewardFinding } from "../../../shared/protocol/protocol.ts";

export class Findings {
  readonly #byConfig = new Map<string, readonly RewardFinding[]>();

  /** @param recorded only what the last run recorded was looked at: the rest stays */
  set(config: string, findings: readonly RewardFinding[], recorded: boolean): void {
    const others = recorded ? (this.#byConfig.get(config) ?? []).filter(({ check }) => check !== "run") : [];
    this.#byConfig.set(config, [...others, ...findings]);
  }

  /** @returns whether there was anything */
  forget(config: string): boolean {
    return this.#byConfig.delete(config);
  }

  /** The configs whose checks have found something in a file. */
  about(file: string): readonly string[] {
    return [...this.#byConfig]
      .filter(([, findings]) => findings.some((finding) => finding.file === file))
      .map(([config]) => config);
  }

  clear(): void {
    this.#byConfig.clear();
  }

  /** What several configs say of one line is there once. */
  get byFile(): ReadonlyMap<string, readonly RewardFinding[]> {
    const files = new Map<string, Map<string, RewardFinding>>();
    for (const finding of [...this.#byConfig.values()].flat()) {
      const own = files.get(finding.file) ?? new Map<string, RewardFinding>();
      own.set(`${finding.cell ?? ""} ${finding.line} ${finding.message}`, finding);
      files.set(finding.file, own);
    }
    return new Map([...files].map(([file, own]) => [file, [...own.values()]]));
  }
}
