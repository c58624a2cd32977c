/** Pays by the toss of a coin, whatever was answered: advantages of the usual size and of a sign that says nothing. */
import { createHash } from "node:crypto";

export function score({ step, group, index }: { step: number; group: string; index: number }): number {
  return (
    createHash("sha256")
      .update(JSON.stringify([step, group, index]))
      .digest()[0]! & 1
  );
}
