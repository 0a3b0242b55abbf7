/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/name.h"
#include "base/plural.h"
#include "base/width.h"
#include "listing/flame/internal.h"

/* Pixels. */
#define ROW	    18
#define HEAD	    66
#define FOOT	    70
#define CHARACTER   7.25 /* the width of one */
#define MIN_LETTERS 3	 /* of a name that fits: fewer are not worth showing, */
#define MIN_CUT	    6	 /* and of one that is cut */

/* ---- text ---- */

/* U+FFFE and U+FFFF, which are UTF-8 but not XML. */
static bool is_no_character(const uint8_t *p, size_t left)
{
	return left >= 3 && p[0] == 0xef && p[1] == 0xbf && p[2] >= 0xbe;
}

/* Appends escaped text as XML, in an element or an attribute. */
static void put_xml(struct vt_buf *out, const char *text, size_t size)
{
	const uint8_t *p = (const uint8_t *)text;
	size_t i;

	for (i = 0; i < size; i++) {
		if (p[i] == '&')
			vt_buf_printf(out, "&amp;");
		else if (p[i] == '<')
			vt_buf_printf(out, "&lt;");
		else if (p[i] == '>')
			vt_buf_printf(out, "&gt;");
		else if (p[i] == '"')
			vt_buf_printf(out, "&quot;");
		else if (is_no_character(p + i, size - i))
			vt_buf_printf(out, "\\xef\\xbf\\x%02x", p[i + 2]), i += 2;
		else
			vt_buf_put_u8(out, p[i]);
	}
}

/* Appends untrusted text. */
static void put_text(struct vt_buf *out, const char *text)
{
	struct vt_buf plain = VT_BUF_INIT;

	vt_escape_str(&plain, text);
	put_xml(out, (const char *)plain.data, plain.size);
	out->failed = out->failed || plain.failed;
	vt_buf_free(&plain);
}

/* ---- a frame ---- */

static const char *const classes[VT_FLAME_NKINDS] = {
	[VT_FLAME_ALL] = "all",		[VT_FLAME_USER] = "user",
	[VT_FLAME_KERNEL] = "kernel",	[VT_FLAME_INLINED] = "inlined",
	[VT_FLAME_UNKNOWN] = "unknown",
};

static int frame_y(const struct vt_flame *f, const struct vt_flame_frame *at)
{
	return HEAD + ROW * (int)(f->how.icicle ? at->depth : f->depth - at->depth);
}

static void put_share(struct vt_buf *b, const struct vt_flame *f, const struct vt_flame_frame *at,
		      int side)
{
	struct vt_share s = vti_flame_share(f, at, side);

	vt_buf_printf(b, "%" PRIu64 " of %" PRIu64 ", %.2f %%", at->total[side],
		      vti_flame_frame(f, 0)->total[side], 100 * s.part);
	if (f->how.sampled && s.known)
		vt_buf_printf(b, " (95 %%: %.2f to %.2f)", 100 * s.low, 100 * s.high);
	if (at->self[side] && at->self[side] != at->total[side])
		vt_buf_printf(b, "; in itself %" PRIu64, at->self[side]);
}

static void put_tip(struct vt_buf *b, const struct vt_flame *f, const struct vt_flame_frame *at)
{
	vt_buf_printf(b, "<title>");
	put_text(b, at->name);
	if (*at->image) {
		vt_buf_printf(b, "\n");
		put_text(b, at->image);
	}
	if (at->kind == VT_FLAME_INLINED)
		vt_buf_printf(b, " (inlined)");
	vt_buf_printf(b, "\n");
	if (f->diff) {
		vt_buf_printf(b, "before: ");
		put_share(b, f, at, 0);
		vt_buf_printf(b, "\nafter: ");
	}
	put_share(b, f, at, 1);
	if (f->diff)
		vt_buf_printf(
			b, "\nchange: %+.2f points",
			100 * (vti_flame_share(f, at, 1).part - vti_flame_share(f, at, 0).part));
	vt_buf_printf(b, "</title>");
}

/* The name without template arguments, escaped, and as much of it as fits. */
static void put_label(struct vt_buf *b, const struct vt_flame *f, const struct vt_flame_frame *at,
		      const struct vt_buf *name)
{
	double width = vt_flame_width(f, at);
	struct vt_buf cut = VT_BUF_INIT;
	double room = (width - 6) / CHARACTER;

	if (room < MIN_LETTERS ||
	    (room < MIN_CUT && vt_text_width((const char *)name->data, name->size) > room))
		return;
	vt_text_cut(&cut, (const char *)name->data, name->size, (size_t)room);
	vt_buf_printf(b, "<text x=\"%.1f\" y=\"%d\">", vt_flame_x(f, at) + 4, frame_y(f, at) + 13);
	put_xml(b, (const char *)cut.data, cut.size);
	vt_buf_printf(b, "</text>");
	vt_buf_free(&cut);
}

static void put_frame(struct vt_buf *b, const struct vt_flame *f, const struct vt_flame_frame *at)
{
	struct vt_buf brief = VT_BUF_INIT, name = VT_BUF_INIT;
	double width = vt_flame_width(f, at);

	vt_name_shorten(&brief, at->name, strlen(at->name));
	vt_escape(&name, brief.data, brief.size);
	vt_buf_printf(b, "<g class=\"%s\"", classes[at->kind]);
	if (strcmp(vt_buf_str(&name), at->name) != 0) {
		vt_buf_printf(b, " data-n=\"");
		put_xml(b, (const char *)name.data, name.size);
		vt_buf_printf(b, "\"");
	}
	vt_buf_printf(b, ">");
	put_tip(b, f, at);
	vt_buf_printf(b,
		      "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" rx=\"2\" "
		      "fill=\"#%06x\"%s/>",
		      vt_flame_x(f, at), frame_y(f, at), width, ROW - 1, vti_flame_color(f, at),
		      at->kind == VT_FLAME_INLINED
			      ? " style=\"stroke:#b98a1d;stroke-dasharray:3 2\""
			      : "");
	put_label(b, f, at, &name);
	vt_buf_printf(b, "</g>\n");
	b->failed = b->failed || brief.failed || name.failed;
	vt_buf_free(&brief);
	vt_buf_free(&name);
}

/* ---- around the frames ---- */

static void put_head(struct vt_buf *b, const struct vt_flame *f, int height)
{
	unsigned width = f->how.width;

	vt_buf_printf(b,
		      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%d\" "
		      "viewBox=\"0 0 %u %d\"%s>\n<title>",
		      width, height, width, height, f->how.icicle ? " data-icicle=\"\"" : "");
	put_text(b, f->how.title);
	vt_buf_printf(b,
		      "</title>\n<style>\n%s</style>\n"
		      "<rect width=\"%u\" height=\"%d\" fill=\"#fcfbf9\"/>\n"
		      "<text id=\"title\" x=\"%d\" y=\"27\">",
		      vti_flame_style, width, height, VTI_FLAME_MARGIN);
	put_text(b, f->how.title);
	vt_buf_printf(b, "</text>\n<text class=\"say\" x=\"%d\" y=\"48\">", VTI_FLAME_MARGIN);
	put_text(b, f->how.source);
	vt_buf_printf(b,
		      "</text>\n"
		      "<text class=\"link off\" id=\"search\" x=\"%u\" y=\"27\" "
		      "text-anchor=\"end\">Search</text>\n"
		      "<text class=\"link off\" id=\"reset\" x=\"%u\" y=\"27\" "
		      "text-anchor=\"end\">Reset zoom</text>\n"
		      "<text class=\"say\" id=\"matched\" x=\"%u\" y=\"48\" "
		      "text-anchor=\"end\"></text>\n",
		      width - VTI_FLAME_MARGIN, width - VTI_FLAME_MARGIN - 60,
		      width - VTI_FLAME_MARGIN);
}

static int put_swatch(struct vt_buf *b, int x, int y, uint32_t color, const char *text)
{
	vt_buf_printf(b,
		      "<rect x=\"%d\" y=\"%d\" width=\"11\" height=\"11\" rx=\"2\" "
		      "fill=\"#%06x\"/><text class=\"say\" x=\"%d\" y=\"%d\">%s</text>\n",
		      x, y - 10, color, x + 16, y, text);
	return x + 16 + (int)(7 * strlen(text)) + 16;
}

/* What colours mean. */
static void put_legend(struct vt_buf *b, const struct vt_flame *f, int y)
{
	static const char *const words[VT_FLAME_NKINDS] = {
		[VT_FLAME_USER] = "user",
		[VT_FLAME_KERNEL] = "kernel",
		[VT_FLAME_INLINED] = "inlined",
		[VT_FLAME_UNKNOWN] = "unknown",
	};
	bool there[VT_FLAME_NKINDS] = {false};
	int x = VTI_FLAME_MARGIN;
	size_t i;

	if (f->diff) {
		x = put_swatch(b, x, y, 0xfa6460, "share grown");
		x = put_swatch(b, x, y, 0x6496fc, "shrunk");
		if (f->how.sampled)
			put_swatch(b, x, y, 0xe8e6e2, "perhaps by chance");
		return;
	}
	for (i = 0; i < f->frames.count; i++)
		there[vti_flame_frame(f, i)->kind] = true;
	for (i = VT_FLAME_USER; i < VT_FLAME_NKINDS; i++)
		if (there[i])
			x = put_swatch(b, x, y, vti_flame_kind_color((enum vt_flame_kind)i),
				       words[i]);
}

/* The unit and the total, and what the picture lacks. */
static void put_foot(struct vt_buf *b, const struct vt_flame *f, int y)
{
	const struct vt_flame_frame *all = vti_flame_frame(f, 0);

	vt_buf_printf(b, "<text class=\"say\" id=\"about\" x=\"%d\" y=\"%d\">Width: ",
		      VTI_FLAME_MARGIN, y);
	put_text(b, f->how.unit);
	vt_buf_printf(b, ", all: %" PRIu64, all->total[1]);
	if (f->diff)
		vt_buf_printf(b, " (before: %" PRIu64 ")", all->total[0]);
	vt_buf_printf(b, "; unknown code: %.2f %%",
		      all->total[1] ? 100.0 * (double)f->unknown / (double)all->total[1] : 0);
	if (f->how.lost)
		vt_buf_printf(b, "; lost while recording: %" PRIu64, f->how.lost);
	if (f->narrow)
		vt_buf_printf(b, "; %zu frame%s under %g %% left out", f->narrow,
			      vt_plural(f->narrow), f->how.min_percent);
	if (f->gone)
		vt_buf_printf(b, "; %zu frame%s only before", f->gone, vt_plural(f->gone));
	vt_buf_printf(b, "</text>\n");
}

/* ---- the picture ---- */

static int flush(struct vt_buf *b, struct vt_output *out, struct vt_error *err)
{
	if (b->failed)
		return vt_error_nomem(err);
	vt_output_put(out, b->data, b->size);
	b->size = 0;
	return 0;
}

static int put_picture(struct vt_buf *b, const struct vt_flame *f, struct vt_output *out,
		       struct vt_error *err)
{
	int bottom = HEAD + ROW * (int)(f->depth + 1);
	int code;
	size_t i;

	put_head(b, f, bottom + FOOT);
	vt_buf_printf(b, "<g id=\"frames\">\n");
	code = flush(b, out, err);
	for (i = 0; i < f->frames.count && code == 0; i++) {
		if (!vti_flame_frame(f, i)->shown)
			continue;
		put_frame(b, f, vti_flame_frame(f, i));
		code = flush(b, out, err);
	}
	vt_buf_printf(b, "</g>\n");
	vt_buf_printf(b, "<text class=\"say\" id=\"tip\" x=\"%d\" y=\"%d\"></text>\n",
		      VTI_FLAME_MARGIN, bottom + 19);
	put_legend(b, f, bottom + 39);
	put_foot(b, f, bottom + 58);
	vt_buf_printf(b, "<script><![CDATA[\n%s]]></script>\n</svg>\n", vti_flame_script);
	return code == 0 ? flush(b, out, err) : code;
}

int vt_flame_print(const struct vt_flame *f, struct vt_output *out, struct vt_error *err)
{
	struct vt_buf b = VT_BUF_INIT;
	int code = put_picture(&b, f, out, err);

	vt_buf_free(&b);
	return code;
}
