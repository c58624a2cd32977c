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

/** As `ssh` takes it: an alias of `~/.ssh/config`, or user@host. */
const host = z.string().min(1);
const port = z.number().int().min(1).max(65_535).optional();

export const siteSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("here"), ...common }),
  z.strictObject({ kind: z.literal("ssh"), host, port, ...common }),
  z.strictObject({
    kind: z.literal("slurm"),
    /** The login node, where `sbatch` is; absent: this machine. */
    host: host.optional(),
    port,
    /** Options of `sbatch`: `--partition=gpu`, `--gres=gpu:8`, `--time=12:00:00`. */
    sbatch: z.array(z.string().startsWith("-")).default([]),
    ...common,
  }),
  z.strictObject({
    kind: z.literal("skypilot"),
    /** The cluster's name; ssh knows it by the same. */
    cluster: z
      .string()
      .regex(/^[a-zA-Z]([-\w.]*[a-zA-Z0-9])?$/, "letters, digits, `-`, `_` and `.`, a letter first"),
    /** SkyPilot's own YAML with resources and setup, from the site's file. */
    task: z.string().min(1),
    /** Minutes without a job after which the cluster goes. */
    down_after: z.number().int().min(1).default(15),
    ...common,
  }),
  z.strictObject({
    kind: z.literal("ray"),
    /** Of the dashboard: `http://127.0.0.1:8265`. */
    address: z.url({ protocol: /^https?$/ }).default("http://127.0.0.1:8265"),
    /** A machine that has the cluster's shared folder; absent: this machine. */
    host: host.optional(),
    port,
    /** What the job's own process asks for; the trainer asks for its workers itself. */
    cpus: z.number().positive().optional(),
    gpus: z.number().min(0).optional(),
    ...common,
  }),
]);

export type SiteConfig = z.output<typeof siteSchema>;
export type SiteKind = SiteConfig["kind"];
