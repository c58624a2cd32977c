/** The package on Linux with neither a compiler nor Python nor npm: Node alone, and an index of Python packages. */
import { test } from "node:test";
import { nodeAlone } from "../../support/systems/machine.ts";
import { stage } from "../../support/systems/stage.ts";
import { tellStory } from "../../support/systems/story.ts";
import { whyNoWheels } from "../../support/systems/wheelIndex.ts";

const system = `${process.platform}-${process.arch}`;
const skip = system === "linux-x64" ? whyNoWheels() : "it is told of Linux on x64";

if (skip !== undefined) test("the package with Node alone", { skip }, () => undefined);
else tellStory(stage(system, nodeAlone).play, () => undefined);
