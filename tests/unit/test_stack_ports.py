import socket

import pytest

from deploy.ports import ANY_PORT, HOST, USUAL_PORTS, reserve


def listening(host: str = HOST) -> socket.socket:
    server = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    # As every server of the stack does.
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind((host, 0))
    server.listen()
    return server


def a_free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def test_the_usual_ports_differ() -> None:
    assert len(set(USUAL_PORTS.values())) == len(USUAL_PORTS)


def test_a_free_usual_port_is_used() -> None:
    usual = a_free_port()
    reservation = reserve(usual)
    assert (reservation.port, reservation.is_replacement) == (usual, False)
    reservation.release()


@pytest.mark.parametrize("host", [HOST, "0.0.0.0"])
def test_a_taken_port_is_replaced_by_a_free_one(host: str) -> None:
    with listening(host) as server:
        taken = server.getsockname()[1]
        reservation = reserve(taken)
        assert reservation.port != taken
        assert reservation.is_replacement
        reservation.release()


def test_any_port_is_never_called_a_replacement() -> None:
    reservation = reserve(ANY_PORT)
    assert reservation.port > 0
    assert not reservation.is_replacement
    reservation.release()


def test_nobody_else_gets_a_reserved_port_until_it_is_released() -> None:
    first = reserve(a_free_port())
    second = reserve(first.port)
    assert second.is_replacement
    first.release()
    third = reserve(first.port)
    assert third.port == first.port
    second.release()
    third.release()


def test_a_port_that_was_just_in_use_is_not_called_taken() -> None:
    with listening() as server:
        port = server.getsockname()[1]
        with socket.create_connection((HOST, port)), server.accept()[0] as accepted:
            # The side that closes first is remembered by the system for a minute.
            accepted.close()
    reservation = reserve(port)
    assert reservation.port == port
    reservation.release()
