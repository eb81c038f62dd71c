"""SynthService on the wire: validate, let the mind work, encode what it streams."""

from collections.abc import AsyncIterator

from services.chassis.errors import InvalidRequest
from services.chassis.server import Context
from services.synth import convert
from services.synth.mind import Answer, Delta, Move, PlanMessage, Repaired, Thought
from services.synth.minds import Minds
from zocrates.synth.v1 import synth_pb2 as pb
from zocrates.synth.v1 import synth_pb2_grpc as rpc

MAX_PROMPT_CHARS = 20_000


class InvalidPrompt(InvalidRequest):
    """The prompt is empty or too long."""

    reason = "INVALID_PROMPT"


class SynthServicer(rpc.SynthServiceServicer):
    """Gives the minds to the wire; every rpc is free of side effects."""

    def __init__(self, minds: Minds) -> None:
        self._minds = minds

    async def Converse(
        self, request: pb.ConverseRequest, context: Context
    ) -> AsyncIterator[pb.ConverseResponse]:
        """Answer from the session, or ask for research."""
        _check(request.prompt, "prompt")
        mind = self._minds.coordinator
        async for event in mind.converse(convert.conversation_of(request)):
            match event:
                case Thought(text=text):
                    yield pb.ConverseResponse(thought=text)
                case Delta(text=text):
                    yield pb.ConverseResponse(answer_delta=text)
                case outcome:
                    result = convert.converse_result(outcome, mind.model)
                    yield pb.ConverseResponse(result=result)

    async def Investigate(
        self, request: pb.InvestigateRequest, context: Context
    ) -> AsyncIterator[pb.InvestigateResponse]:
        """Decide one turn of a pass."""
        _check(request.question, "question")
        mind = self._minds.search_agent
        async for event in mind.investigate(convert.investigation_of(request)):
            match event:
                case Thought(text=text):
                    yield pb.InvestigateResponse(thought=text)
                case Move() as move:
                    result = convert.investigate_result(move, mind.model)
                    yield pb.InvestigateResponse(result=result)

    async def DraftPlan(
        self, request: pb.DraftPlanRequest, context: Context
    ) -> AsyncIterator[pb.DraftPlanResponse]:
        """Draft or revise a plan of the research."""
        _check(request.question, "question")
        mind = self._minds.coordinator
        async for event in mind.draft_plan(convert.planning_of(request)):
            match event:
                case Thought(text=text):
                    yield pb.DraftPlanResponse(thought=text)
                case PlanMessage() as message:
                    result = convert.draft_plan_result(message, mind.model)
                    yield pb.DraftPlanResponse(result=result)

    async def Synthesize(
        self, request: pb.SynthesizeRequest, context: Context
    ) -> AsyncIterator[pb.SynthesizeResponse]:
        """Write the answer."""
        _check(request.question, "question")
        mind = self._minds.writer
        async for event in mind.synthesize(convert.commission_of(request)):
            match event:
                case Thought(text=text):
                    yield pb.SynthesizeResponse(thought=text)
                case Delta(text=text):
                    yield pb.SynthesizeResponse(answer_delta=text)
                case Answer() as answer:
                    result = convert.synthesize_result(answer, mind.model)
                    yield pb.SynthesizeResponse(result=result)

    async def Repair(
        self, request: pb.RepairRequest, context: Context
    ) -> AsyncIterator[pb.RepairResponse]:
        """Mend the unsupported sentences of an answer."""
        _check(request.question, "question")
        mind = self._minds.writer
        async for event in mind.repair(convert.repair_of(request)):
            match event:
                case Thought(text=text):
                    yield pb.RepairResponse(thought=text)
                case Repaired() as repaired:
                    result = convert.repair_result(repaired, mind.model)
                    yield pb.RepairResponse(result=result)

    async def DescribeMinds(
        self, request: pb.DescribeMindsRequest, context: Context
    ) -> pb.DescribeMindsResponse:
        """Tell who has which role."""
        return pb.DescribeMindsResponse(
            coordinator=self._minds.coordinator.model,
            search_agent=self._minds.search_agent.model,
            writer=self._minds.writer.model,
        )


def _check(text: str, field: str) -> None:
    if not text.strip():
        raise InvalidPrompt(f"The {field} is empty; send a question.", field=field)
    if len(text) > MAX_PROMPT_CHARS:
        raise InvalidPrompt(
            f"The {field} has {len(text)} characters; at most {MAX_PROMPT_CHARS} are allowed.",
            field=field,
            limit=MAX_PROMPT_CHARS,
        )
