/** Amounts of memory as a config writes them. */
import { z } from "zod";
import { refers } from "../../core/references.ts";

const units: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
};
/** Either case is spelt out: a pattern of a JSON Schema has no flags. */
const size = /^\s*(\d+(?:\.\d+)?)\s*([KMGTkmgt]?[Ii]?[Bb])\s*$/;

export const memorySize = z.union([
  z.number().positive(),
  refers({ to: "size" }).regex(size, "write bytes as a number, or a size such as 8GiB or 500MB"),
]);

/** `8GiB`, `500 MB` or bytes, in bytes. */
export function bytesOf(written: z.output<typeof memorySize> | undefined): number | undefined {
  if (typeof written !== "string") return written;
  const [, amount, unit] = size.exec(written) ?? [];
  return Number(amount) * (units[(unit ?? "b").toLowerCase()] ?? 1);
}
