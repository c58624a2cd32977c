/** What is imported, and how. */
import type { SiteFolder } from "../../../shared/run/run.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";

export interface PulledMirror {
  readonly site: SiteFolder;
  /** The mirror where it is now. */
  readonly root: string;
}

export interface ImportRequest {
  /** The `.gradus` folder. */
  readonly store: string;
  /** What the trainer wrote. */
  readonly folder: string;
  /** Where it wrote it, if `folder` is in a mirror: that becomes a part of the run. */
  readonly mirror?: PulledMirror | undefined;
  readonly name: string | undefined;
  readonly copy: boolean;
  /** Name of the run in a file that has several. */
  readonly sourceRun?: string | undefined;
  /** Of the folder before it was read (`sourceStateOf`), to know it again. */
  readonly sourceState?: string | undefined;
  /** The run's config, as its author wrote it; undefined: none was named. */
  readonly config:
    | {
        readonly file: string;
        readonly text: string;
        readonly set: readonly string[];
        readonly loaded: RunConfig;
        /** Release of the trainer that it is for, where it says so. */
        readonly version: string | null;
        /** The trainer's own script or file: rewards have the names that its dumps give them. */
        readonly converted?: boolean;
      }
    | undefined;
  /** Version of Gradus. */
  readonly version: string;
  readonly progress: (bytes: number) => void;
}
