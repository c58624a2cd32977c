/**
 * User rewards while they are being written: one process is kept warm and asked to load each new bundle, because
 * starting one takes longer than scoring a step. What hangs is killed, as in a run; an edit ends what is under way.
 */
import { createHash, randomInt } from "node:crypto";
import { dirname, resolve } from "node:path";
import { z } from "zod";
import { UserError } from "../../../shared/lib/errors.ts";
import type { Choice } from "../../core/declaration.ts";
import { fileStamp } from "../../lib/growing/fileStamp.ts";
import type { Bundle } from "../../lib/own/bundle.ts";
import { bundleReward } from "../../methods/reward/own/bundleReward.ts";
import { HostProcess } from "../../methods/reward/own/hostProcess.ts";
import { NoAnswer } from "../../lib/own/ownProcess.ts";
import { inputOf } from "../../methods/reward/own/userReward.ts";
import { failure } from "../../methods/reward/perRow.ts";
import type { TermValue } from "../../core/slots/reward.ts";
import type { Batch } from "../../core/rollouts.ts";

export const userParams = z.object({
  file: z.string(),
  export: z.string(),
  args: z.record(z.string(), z.json()).optional(),
  timeout: z.number().optional(),
});

/** A user's function as it is. */
export interface UserTerm {
  readonly file: string;
  readonly sha256: string;
  score(batch: Batch, rows: readonly number[], step: number, signal: AbortSignal): Promise<TermValue[]>;
}

interface CachedBundle {
  /** Of the text that was bundled. */
  readonly version: string;
  readonly bundle: Bundle;
}

const loadSeconds = 10;
/** Modules that a process has loaded stay in its memory. */
const loadsPerProcess = 50;
/** In a whole step. A function that hangs on one rollout would else hold up all that follow. */
const failuresAllowed = 3;

export class UserTerms {
  private readonly bundles = new Map<string, CachedBundle>();
  private host: HostProcess | undefined;
  private loaded: { readonly bundle: Bundle; readonly name: string } | undefined;
  /** The last question's number. */
  private asked = randomInt(2 ** 40);
  private loads = 0;

  /** @param unsaved texts of files that are open in an editor, by their paths */
  async open(
    choice: Choice<"reward">,
    term: string,
    seconds: number,
    unsaved: Readonly<Record<string, string>>,
  ): Promise<UserTerm> {
    const { file: written, export: name, args = {}, timeout = seconds } = userParams.parse(choice.params);
    const file = resolve(choice.folder, written);
    const bundle = await this.bundle(file, term, unsaved[file]);
    return {
      file,
      sha256: bundle.sha256,
      score: async (batch, rows, step, signal) => {
        if (rows.some((row) => batch.records[row]?.steps !== undefined)) throw divided(file);
        const values: TermValue[] = [];
        let failures = 0;
        for (const row of rows) {
          signal.throwIfAborted();
          if (failures >= failuresAllowed) {
            values.push(
              failure(`${file}:${name}: skipped, because it gave no answer for ${failures} rollouts before`),
            );
            continue;
          }
          const host = await this.ready(file, bundle, name);
          try {
            const answer = await host.ask(
              { kind: "score", id: (this.asked += 1), input: inputOf(batch, row, { step, args }) },
              timeout,
              signal,
            );
            values.push(answer.kind === "scored" ? answer.value : failure("no answer"));
          } catch (error) {
            await this.drop();
            if (!(error instanceof NoAnswer) || error.cause_ === "aborted") throw error;
            failures += 1;
            values.push(failure(`${file}:${name}: ${error.message}`));
          }
        }
        return values;
      },
    };
  }

  /** Starts the process before it is needed. */
  warm(folder: string): void {
    this.host ??= new HostProcess(folder);
  }

  async close(): Promise<void> {
    await this.drop();
    this.bundles.clear();
  }

  /** Imports of the file are checked again only when the file itself has changed. */
  private async bundle(file: string, term: string, unsaved: string | undefined): Promise<Bundle> {
    const version =
      unsaved === undefined
        ? `disk ${fileStamp(file) ?? "gone"}`
        : createHash("sha256").update(unsaved).digest("hex");
    const known = this.bundles.get(file);
    if (known?.version === version) return known.bundle;
    const bundle = await bundleReward(file, term, unsaved);
    this.bundles.set(file, { version, bundle });
    return bundle;
  }

  /** The process with this function loaded. */
  private async ready(file: string, bundle: Bundle, name: string): Promise<HostProcess> {
    if (this.host !== undefined && this.loaded?.bundle === bundle && this.loaded.name === name)
      return this.host;
    if (this.loads >= loadsPerProcess) await this.drop();
    const host = (this.host ??= new HostProcess(dirname(file)));
    try {
      const answer = await host.load(bundle.text, name, loadSeconds);
      if (answer.kind === "refused") throw refusal(file, answer.message);
    } catch (error) {
      await this.drop();
      throw error instanceof NoAnswer ? refusal(file, `loading it: ${error.message}`) : error;
    }
    [this.loaded, this.loads] = [{ bundle, name }, this.loads + 1];
    return host;
  }

  private async drop(): Promise<void> {
    const { host } = this;
    [this.host, this.loaded, this.loads] = [undefined, undefined, 0];
    await host?.close();
  }
}

export const divided = (file: string): UserError =>
  new UserError("the run divided responses into steps, and only its tokenizer knows their texts", {
    file,
    code: "rescore-tokenizer",
    action: "Score such a term in a run.",
  });

const refusal = (file: string, message: string): UserError =>
  new UserError(`${file}: ${message}`, { file, code: "reward-load", action: "Fix the file." });
