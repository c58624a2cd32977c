/** `sites/NAME.yaml`: where runs may happen. */
import { z } from "zod";

const common = {
  /** Where projects and their outputs go; `~/` is the user's home there. */
  folder: z.string().min(1).default("~/gradus-runs"),
  /** The Python that trains. */
  python: z.string().min(1).default("python3"),
  /** Node 20 or newer, for curricula and TypeScript rewards. */
  node: z.string().min(1).default("node"),
  /** What is put before `train.py`: `accelerate launch --num_processes 8`. Default: the Python alone. */
  launch: z.string().min(1).optional(),
  /** Variables of the trainer's process; `${env:NAME}` is this machine's. */
  env: z.record(z.string(), z.string()).default({}),
  /** What an hour costs, for the estimate before a launch. */
  price: z
    .strictObject({ gpu_hour: z.number().min(0), currency: z.string().min(1).default("USD") })
    .optional(),
};

export const siteSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("here"), ...common }),
  z.strictObject({
    kind: z.literal("ssh"),
    /** As `ssh` takes it: an alias of `~/.ssh/config`, or user@host. */
    host: z.string().min(1),
    port: z.number().int().min(1).max(65_535).optional(),
    ...common,
  }),
]);

export type SiteConfig = z.output<typeof siteSchema>;
export type SiteKind = SiteConfig["kind"];
