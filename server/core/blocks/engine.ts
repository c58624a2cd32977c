/** The keys of `engine`: what the run computes on. */
import { externalEngines } from "../../../shared/run/trainers.ts";
import { z } from "zod";
import { refers } from "../references.ts";
import { made, map, value, whole } from "./kinds.ts";

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

export const engine = map(
  {
    use: value(
      z.enum(["embedded", ...externalEngines]),
      "Who trains: the engine of Gradus (`embedded`), or another trainer that the config is exported to.",
      { default: "embedded" },
    ),
    args: value(
      z.record(z.string(), z.json()),
      "Settings of the other trainer by its own names, e.g. `{ use_vllm: true }`: they are written over what the config says.",
    ),
    backend: value(
      z.enum(["auto", "native", "webgpu", "wasm"]),
      "The backend that computes: the native TensorFlow library (CPU, or GPU with CUDA), WebGPU, WebAssembly, or the best one available.",
      { default: "auto" },
    ),
    threads: value(whole(1), "Threads of the backend. Default: the backend decides."),
    memory: made(
      value(
        memorySize,
        "Most memory that the run may take: bytes, or a size such as `8GiB`. Default: four fifths of the machine's. The engine splits work to fit, and refuses what cannot fit before it starts.",
      ),
      bytesOf,
    ),
  },
  "The backend, its threads and its memory.",
);
