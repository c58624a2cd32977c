/** Addresses of lists of rollouts over all steps: those that satisfy a condition, or one task's. */
import { Uri } from "vscode";
import { schemes } from "../../../../shared/editor/contributions.ts";
import { rolloutSorts, type RolloutSort } from "../../../../shared/protocol/protocol.ts";

export type ListAddress =
  | { readonly kind: "found"; readonly run: string; readonly where: string; readonly sort: RolloutSort }
  | { readonly kind: "task"; readonly run: string; readonly task: string };

export const defaultSort: RolloutSort = "-reward";

/** The last part of a path is what a tab is called. */
const title = (text: string): string => text.replaceAll("/", "-").slice(0, 60);

/** `gradus-rollout-list:/<run>/found/<sort>/<name> · rollouts found?<condition>`, `…/<run>/task/<task> · all steps?<task>`. */
export const listUri = (address: ListAddress, name: string): Uri =>
  address.kind === "found"
    ? Uri.from({
        scheme: schemes.rolloutList,
        path: `/${address.run}/found/${address.sort}/${title(name)} · rollouts found`,
        query: address.where,
      })
    : Uri.from({
        scheme: schemes.rolloutList,
        path: `/${address.run}/task/${title(`${name} · ${address.task}`)} · all steps`,
        query: address.task,
      });

export function listOf(uri: Uri): ListAddress {
  const [, run = "", kind = "", sort = ""] = uri.path.split("/");
  if (kind === "task") return { kind, run, task: uri.query };
  return {
    kind: "found",
    run,
    where: uri.query,
    sort: rolloutSorts.find((one) => one === sort) ?? defaultSort,
  };
}
