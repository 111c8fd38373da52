import subprocess
import sys

from course_utils.drawing.figures import blank, figure


def drawn():
    fig, axes = blank()
    axes.loglog([1e-1, 1e-2, 1e-3], [1e-2, 1e-4, 1e-6], label="float64")
    axes.plot([1e-1, 1e-3], [1e-2, 1e-5], label="float32")
    axes.legend()
    axes.set_xlabel("step size")
    return figure(fig, text="two curves", alt="two falling curves")


def test_the_same_figure_gives_the_same_bytes_without_a_date_or_version():
    one, other = drawn().svg, drawn().svg
    assert one == other
    assert "<dc:date>" not in one
    assert "Matplotlib v" not in one


def test_text_stays_text():
    assert ">step size</text>" in drawn().svg


def test_lines_differ_without_colour():
    _, axes = blank()
    lines = [axes.plot([0, 1])[0] for _ in range(4)]
    assert len({line.get_marker() for line in lines}) == 4


def test_the_picture_is_as_large_as_the_figure():
    width, height = drawn().size()
    assert (round(width), round(height)) == (691, 365)


def test_a_pyplot_figure_is_closed_so_that_it_shows_once():
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots()
    axes.plot([1, 2])
    figure(fig, "", "")
    assert plt.get_fignums() == []


def test_matplotlib_is_loaded_only_when_used():
    code = "import sys, course_utils.drawing.figures; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
