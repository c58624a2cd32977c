/** What is built of a checked tree. */
import type { CheckedTree } from "./reader.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import type { StageKind, WrittenKind } from "../../../shared/run/stageKinds.ts";
import type { Turn } from "../../core/config/stageConfig.ts";
import type { MapNode } from "../text/node.ts";

/** The blocks of the top level as they were built. */
export interface BuiltTop {
  readonly tree: CheckedTree;
  readonly steps: number;
  readonly body: StageBody;
}

/** One stage as written, with the tree of its blocks after its overrides. */
export interface StageTree {
  readonly name: string;
  readonly kind: StageKind;
  readonly writtenKind: WrittenKind;
  readonly steps: number;
  /** Its item in `stages`; undefined for the implied stage of a config without stages. */
  readonly written: MapNode | undefined;
  readonly body: MapNode;
  /** Copies that its kind begins again. */
  readonly refreshes: readonly string[];
  readonly turns: readonly Turn[];
  /** Whether it runs only in turns that another stage gives it. */
  readonly part: boolean;
}
