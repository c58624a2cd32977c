/** What `gradus runs diff --json` prints. */
import type { NamedModel } from "../../../analysis/weights/comparable.ts";
import type { WeightDiff } from "../../../analysis/weights/diff.ts";
import type { HiddenAlignment } from "./hidden.ts";

export interface DiffReport extends WeightDiff {
  readonly a: NamedModel;
  readonly b: NamedModel;
  readonly base?: NamedModel;
  readonly settings: {
    readonly tolerance: number;
    readonly top_k: number;
    readonly alpha: number;
    readonly side: number;
  };
  readonly cka?: HiddenAlignment;
}
