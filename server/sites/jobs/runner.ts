/** How a site runs a project: as a process, or by a queue that it has. */

export type JobState =
  /** Nobody started it, or it is forgotten. */
  | { readonly kind: "absent" }
  | { readonly kind: "waiting"; readonly why: string }
  | { readonly kind: "running" }
  /** `code`: the exit code of `launch.sh`; null: it was stopped. */
  | { readonly kind: "ended"; readonly code: number | null; readonly message: string }
  /** It is no more, and left no exit code: its machine was restarted, or it was killed. */
  | { readonly kind: "gone"; readonly message: string };

export interface JobAsk {
  /** The project's folder there. */
  readonly folder: string;
  /** Of one attempt of a run: an id that was used once starts nothing more. */
  readonly id: string;
  /** Go on from the last checkpoint. */
  readonly resume: boolean;
  readonly env: Readonly<Record<string, string>>;
}

/** A job is found again by its id and folder alone: whoever started it may be gone. */
export interface Runner {
  /** Brings the machine up that the job runs on, where it is not there yet: it may take minutes. */
  ready?(): Promise<void>;
  /** Starts it, where there is no job of that id. */
  start(ask: JobAsk): Promise<void>;
  state(job: Pick<JobAsk, "id" | "folder">): Promise<JobState>;
  /** Ends it at once; to be asked gently, a project reads `out/stop`. */
  stop(job: Pick<JobAsk, "id" | "folder">): Promise<void>;
}

export const hasEnded = ({ kind }: JobState): boolean => kind === "ended" || kind === "gone";

/** What runs a project in its folder: the log is a file there, whoever prints. */
export const launchLine = (
  { folder, resume }: Pick<JobAsk, "folder" | "resume">,
  word: (text: string) => string,
): string => `cd ${word(folder)} && exec sh launch.sh${resume ? " --resume" : ""} >> log.txt 2>&1`;
