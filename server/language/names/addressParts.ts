/** The names inside a key's address: `reward.terms.brevity.weight` speaks of the term `brevity`. */
import { placedSegments } from "../../config/address.ts";
import type { NameKind, NamePart } from "./naming.ts";

/** Keys below which there are names. */
const holders: Readonly<Record<string, NameKind>> = {
  terms: "term",
  models: "model",
  tasks: "task",
  stages: "stage",
};

export function addressParts(address: string): readonly NamePart[] {
  const steps = placedSegments(address);
  return steps.flatMap(({ name, start }, at) => {
    const kind = at === 0 ? undefined : holders[steps[at - 1]!.name];
    return kind === undefined ? [] : [{ kind, name, start }];
  });
}
