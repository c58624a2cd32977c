/** What every engine's export is given, and answers. */
import type { ExternalEngine } from "../../../shared/run/trainers.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";

export interface ExportRequest {
  readonly config: RunConfig;
  /** The config's own text, which is kept in the project. */
  readonly text: string;
  /** The folder to write, which is there and empty. */
  readonly folder: string;
  /** The Python and the launcher that `launch.sh` uses where nothing else is said. */
  readonly python: string;
  readonly launch: string | undefined;
  /** Version of Gradus. */
  readonly version: string;
}

/** A choice of the config without a counterpart. */
export interface Missing {
  /** The key of the config. */
  readonly key: string;
  readonly value: string;
  /** Why, and what happens instead: a sentence. */
  readonly reason: string;
  /**
   * Whether what trains is another algorithm without it, or the same one with another small constant that keeps a division
   * or an exponential finite.
   */
  readonly changes: "algorithm" | "guard" | "nothing-trained";
}

/** `check.json`: what a site must have for the project. */
export interface Needs {
  /** A PEP 440 range. */
  readonly python: string;
  /** Package → PEP 440 range. */
  readonly packages: Readonly<Record<string, string>>;
  /** A name on the Hub, or a path of the site; null: it is in the project. */
  readonly model: string | null;
  /** The least number of GPUs; 0: trains without one. */
  readonly gpus: number;
  /** Whether a part of it needs Node 20 or newer. */
  readonly node: boolean;
  /** Numbers that must divide each other, by the engine's names: the first is a multiple of the second. */
  readonly divides: readonly {
    readonly whole: string;
    readonly part: string;
    readonly of: number;
    readonly by: number;
  }[];
}

export interface Exported {
  /** Files of the project, relative. */
  readonly files: readonly string[];
  readonly missing: readonly Missing[];
  readonly needs: Needs;
}

export interface Exporter {
  readonly engine: ExternalEngine;
  /** The release that it writes for: "TRL 1.16". */
  readonly release: string;
  write(request: ExportRequest): Promise<Exported>;
}
