/** Keys of the config that `sweep.parameters` may try. */
import { segments } from "../../config/address.ts";
import { liveKeys } from "../../config/grammar/live.ts";
import type { SourceNode } from "../../config/text/node.ts";
import { spotAt, type Step } from "../spot.ts";
import { summaryOf } from "./keys.ts";
import type { KeyOffer } from "./offer.ts";

/** How a run is measured and kept is no choice between runs. */
const others = /^(evaluation|checkpoint)\.|</;

/** What may change while a run is live is what people tune; every other key may be written too. */
export function sweptKeys(
  path: readonly Step[],
  root: SourceNode | undefined,
  merged: SourceNode | undefined,
): KeyOffer[] {
  if (path.length !== 2 || path[0] !== "sweep" || path[1] !== "parameters") return [];
  return liveKeys()
    .filter((key) => !others.test(key))
    .map((text) => ({
      kind: "key",
      text,
      opens: "map",
      required: false,
      says: () => saysOf(spotAt(segments(text), root, merged)),
    }));
}

function saysOf(spot: ReturnType<typeof spotAt>): string {
  if (spot?.kind === "shape") return spot.summary;
  return spot?.kind === "schema" ? summaryOf(spot.schema) : "";
}
