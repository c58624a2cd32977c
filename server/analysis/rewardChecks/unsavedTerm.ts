/** A term whose file is open in an editor and not saved: scored by that text, as an edit's rollouts are. */
import type { RewardTermConfig, StageBody } from "../../core/config/resolved.ts";
import type { RewardColumn, RewardContext } from "../../core/reward.ts";
import type { Batch } from "../../core/rollouts.ts";
import { PythonTerms } from "../rescore/pythonTerm.ts";
import { computedColumn } from "../rescore/terms.ts";
import { UserTerms, type UserTerm } from "../rescore/userTerm.ts";
import type { TermScorer } from "./answers.ts";
import { ownFile } from "./ownFiles.ts";

export class UnsavedTerm implements TermScorer {
  private readonly functions: UserTerms | PythonTerms;
  private user: UserTerm | undefined;

  private constructor(
    private readonly config: RewardTermConfig,
    private readonly body: StageBody,
    private readonly unsaved: Readonly<Record<string, string>>,
  ) {
    this.functions = config.term.declaration.name === "python" ? new PythonTerms(undefined) : new UserTerms();
  }

  /**
   * undefined: the file is as it is on disk.
   * @param unsaved texts of files that are open in an editor, by their paths
   */
  static of(
    config: RewardTermConfig,
    body: StageBody,
    unsaved: Readonly<Record<string, string>>,
  ): UnsavedTerm | undefined {
    const file = ownFile(config);
    return file === undefined || unsaved[file] === undefined
      ? undefined
      : new UnsavedTerm(config, body, unsaved);
  }

  async prepare(): Promise<void> {
    const { term, name } = this.config;
    this.user = await this.functions.open(term, name, this.body.reward.timeout, this.unsaved);
  }

  async score(batch: Batch, { clock, signal }: RewardContext): Promise<RewardColumn[]> {
    if (this.user === undefined) await this.prepare();
    const source = { kind: "user", key: "", user: this.user! } as const;
    const place = { body: this.body, clock, batch, signal: signal ?? new AbortController().signal };
    return [await computedColumn(this.config, source, place)];
  }

  close(): Promise<void> {
    return this.functions.close();
  }
}
