/** A part of the tests passes under Node 22. */
import { passesUnder } from "../../support/otherNode.ts";

passesUnder(22, "1/3");
