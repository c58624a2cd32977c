/** Logs of the form that Ray, torch and the trainers print. */
export const packages = "/opt/env/lib/python3.12/site-packages";
export const oom =
  "CUDA out of memory. Tried to allocate 2.25 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.02 GiB is free.";
export const frame = (file: string, line: number, name: string): string =>
  `  File "${file}", line ${line}, in ${name}\n    call(${name})`;
export const traceback = (frames: readonly string[], error: string): string =>
  ["Traceback (most recent call last):", ...frames, error].join("\n");
export const worker = (name: string, text: string): string =>
  text
    .split("\n")
    .map((line) => `\u001B[36m(${name})\u001B[0m ${line}`)
    .join("\n");

/** verl's: the driver's traceback, then the worker's. */
export const ofRay = (frames: readonly string[], type: string, message: string): string =>
  [
    "Error executing job with overrides: ['data.train_batch_size=64', 'actor_rollout_ref.rollout.name=vllm']",
    traceback(
      [
        frame("/home/me/verl/trainer/main_ppo.py", 64, "main"),
        frame(`${packages}/ray/_private/worker.py`, 2755, "get"),
      ],
      `ray.exceptions.RayTaskError(${type.split(".").at(-1)}): ray::TaskRunner.run() (pid=71, ip=10.0.0.2, actor_id=5f, repr=<main_ppo.TaskRunner object at 0x7f>)`,
    ),
    ...frames,
    `${type}: ${message}`,
    "",
    "Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.",
  ].join("\n");
