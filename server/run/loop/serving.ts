/**
 * A run that is served: `gradus serve RUN` touches a file in the run's folder while it serves, and the run's worker, which
 * answers nobody, publishes its policy at step boundaries as long as that file is fresh.
 */
import { closeSync, openSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { messageOf, UserError } from "../../../shared/lib/errors.ts";
import type { TrainablePolicy } from "../../engine/index.ts";
import { publishWeights } from "../../engine/weights/publish.ts";

/** Milliseconds between two touches, and after how many without one nobody serves any more. */
const TOUCH_EVERY = 5_000;
const FRESH = 60_000;

const servedPath = (folder: string): string => join(folder, "served");
/** The weights of the latest step boundary, while the run is served. */
export const publishedPath = (folder: string): string => join(folder, "published", "policy.safetensors");

/** Says that the run is served, until what it returns is called. @throws UserError where the folder cannot be written */
export function announceServing(folder: string): () => void {
  const path = servedPath(folder);
  const touch = (): void => {
    try {
      closeSync(openSync(path, "a"));
      const now = new Date();
      utimesSync(path, now, now);
    } catch (error) {
      throw new UserError(`The run's folder cannot be written: ${messageOf(error)}.`, {
        file: path,
        code: "serve-write",
        action: "Fix the folder's permissions, or serve one of the run's checkpoints: gradus serve RUN@last.",
        cause: error,
      });
    }
  };
  touch();
  // A folder that goes while it is served ends no request: the run has gone, too.
  const timer = setInterval(() => statSync(folder, { throwIfNoEntry: false }) && touch(), TOUCH_EVERY);
  return () => clearInterval(timer);
}

/** Publishes a run's policy while somebody serves it. */
export class Publisher {
  private published: number | undefined;
  private failed = false;

  constructor(
    readonly folder: string,
    private readonly policy: Pick<TrainablePolicy, "version" | "readTrained">,
    private readonly report: (message: string) => void,
  ) {}

  /** Once a version, whoever asks. @throws UserError where the file cannot be written */
  publish(): void {
    const { version } = this.policy;
    if (this.published === version) return;
    publishWeights(publishedPath(this.folder), { version, weights: this.policy.readTrained() });
    this.published = version;
  }

  /** At a step boundary. One look at a file where nobody serves; what cannot be written is reported once. */
  atBoundary(): void {
    const touched = statSync(servedPath(this.folder), { throwIfNoEntry: false })?.mtimeMs;
    if (touched === undefined || Date.now() - touched > FRESH) return;
    try {
      this.publish();
    } catch (error) {
      if (!this.failed) this.report(messageOf(error));
      this.failed = true;
    }
  }
}
