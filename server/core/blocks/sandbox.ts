/** The key `sandbox`: what keeps the programs that models write. */
import { z } from "zod";
import { param } from "../declaration.ts";
import { value } from "./kinds.ts";

export const sandbox = value(
  z.union([
    z.enum(["auto", "required"]),
    z.strictObject({
      by: param(
        z.enum(["docker", "podman", "bwrap"]),
        "The program that builds the wall; it must be installed.",
      ),
      image: param(
        z.string().min(1).optional(),
        "Image of docker and podman, with a Node of this major version. Default: `node:<major>-slim`.",
      ),
    }),
  ]),
  "What keeps the programs that models write, in rewards and tools. auto: a process with Node's permissions, in Linux namespaces where this machine gives them; required: refused without namespaces; `{ by }`: a container of docker or podman, or Bubblewrap. Default: auto.",
);
