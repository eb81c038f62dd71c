"""Characters in the order of a file become pieces of lines."""

from services.search.text.fragments import FragmentBuilder, reads_right_to_left

SIZE = 10.0


def built(*glyphs: tuple[str, float, float], y: float = 0.0) -> list[str]:
    """Fragments of characters with their left and right edges; a space has none."""
    builder = FragmentBuilder(lambda index: (0.0, 0.0))
    for char, x0, x1 in glyphs:
        if char == " ":
            builder.space()
        else:
            builder.add(char, x0, x1, y, SIZE, False)
    return [fragment.text for fragment in builder.finish()]


def test_neighbours_are_one_fragment_with_its_spaces() -> None:
    assert built(("a", 0, 5), ("b", 5, 10), (" ", 0, 0), ("c", 13, 18)) == ["ab c"]


def test_a_wide_gap_ends_a_fragment() -> None:
    assert built(("a", 0, 5), (" ", 0, 0), ("b", 40, 45)) == ["a", "b"]


def test_another_line_ends_a_fragment() -> None:
    builder = FragmentBuilder(lambda index: (0.0, 0.0))
    builder.add("a", 0, 5, 100, SIZE, False)
    builder.add("b", 5, 10, 88, SIZE, False)
    assert [fragment.text for fragment in builder.finish()] == ["a", "b"]


def test_a_raised_number_stays_with_its_word() -> None:
    builder = FragmentBuilder(lambda index: (0.0, 0.0))
    builder.add("x", 0, 5, 100, SIZE, False)
    builder.add("2", 5, 8, 104, 7.0, False)
    (fragment,) = builder.finish()
    assert (fragment.text, fragment.y, fragment.size) == ("x2", 100, SIZE)


def test_an_accent_joins_the_letter_that_it_is_over() -> None:
    assert built(("M", 0, 8), ("´", 9, 12), ("e", 8, 13), ("x", 13, 18)) == ["Méx"]
    assert built(("o", 0, 5), ("¨", 1, 4), ("l", 5, 7)) == ["öl"]
    assert built(("ˆ", 1, 3), ("ı", 0, 4)) == ["î"]


def test_an_accent_out_of_turn_finds_its_letter() -> None:
    glyphs = [(char, 5.0 * i, 5.0 * i + 5) for i, char in enumerate("Investigacion")]
    assert built(*glyphs, ("´", 56, 59)) == ["Investigación"]


def test_an_accent_alone_stays_what_it_is() -> None:
    assert built(("´", 0, 3), ("x", 30, 35)) == ["´", "x"]


def test_two_letters_of_one_glyph_are_put_in_writing_order() -> None:
    assert built(("ا", 20, 25), ("إ", 10, 18), ("ل", 10, 18), ("ن", 4, 10)) == ["الإن"]


def test_numbers_inside_a_right_to_left_line_do_not_end_it() -> None:
    glyphs = [("ف", 90, 95), (" ", 0, 0), ("1", 78, 82), ("2", 82, 86), (" ", 0, 0), ("م", 70, 75)]
    assert built(*glyphs) == ["ف 12 م"]


def test_the_main_script_gives_the_direction() -> None:
    assert reads_right_to_left("العلاقة بين النوم و R")
    assert not reads_right_to_left("The word نوم means sleep")
    assert not reads_right_to_left("睡眠")


def test_a_line_is_bold_only_when_nearly_all_of_it_is() -> None:
    builder = FragmentBuilder(lambda index: (0.0, 0.0))
    for index, char in enumerate("Methodswedidthis"):
        builder.add(char, 5 * index, 5 * index + 5, 0, SIZE, index < 7)
    (fragment,) = builder.finish()
    assert not fragment.bold


def test_a_vowel_sign_drawn_before_its_letter_follows_it() -> None:
    glyphs = [("أ", 30, 34), ("ي", 24, 30), (" ", 0, 0), ("\u064b", 18, 21), ("ض", 16, 24)]
    assert built(*glyphs, ("ا", 13, 16)) == ["أيضًا"]


def test_a_vowel_sign_drawn_after_its_letter_stays_with_it() -> None:
    assert built(("ب", 20, 26), ("\u064e", 22, 24), (" ", 0, 0), ("ت", 10, 16)) == ["بَ ت"]


def test_a_name_inside_a_right_to_left_line_keeps_its_spaces() -> None:
    glyphs = [("و", 60, 64), (" ", 0, 0), ("R", 40, 46), ("2", 46, 50), ("م", 30, 36)]
    assert built(*glyphs) == ["و R2 م"]


def test_a_line_end_in_the_file_is_a_space_only_where_there_is_a_gap() -> None:
    builder = FragmentBuilder(lambda index: (0.0, 0.0))
    for char, x0, x1 in [("m", 0, 8), ("2", 8.3, 12), ("c", 15, 20)]:
        builder.add(char, x0, x1, 0, SIZE, False)
        builder.line_end()
    assert [fragment.text for fragment in builder.finish()] == ["m2 c"]
