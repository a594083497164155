// node_modules/preact/dist/preact.mjs
var n;
var t;
var r;
var u;
var i;
var f;
var o;
var e;
var l;
var c;
var a;
var s;
var h = Symbol.for("pv");
var p = {};
var y = [];
var v = /^m(i|n|o|s|text|space)$/;
var w = Array.isArray;
var d = y.slice;
var _ = Object.assign;
function g(n3) {
  n3 && n3.parentNode && n3.remove();
}
function k(n3, t4, r4) {
  var u4, i4, f5, o5 = {}, e4 = arguments.length;
  for (f5 in t4) "key" == f5 ? u4 = t4[f5] : "ref" == f5 && "function" != typeof n3 ? i4 = t4[f5] : o5[f5] = t4[f5];
  return e4 > 2 && (o5.children = e4 > 3 ? d.call(arguments, 2) : r4), m(n3, o5, u4, i4, null);
}
function m(r4, u4, i4, f5, o5) {
  var e4 = { type: r4, props: u4, key: i4, ref: f5, __k: null, __: null, __b: 0, __e: null, __c: null, constructor: h, __v: o5 || ++t, __i: -1, __u: 0 };
  return !o5 && n.vnode && n.vnode(e4), e4;
}
function $(n3) {
  return n3.children;
}
function x(n3, t4) {
  this.props = n3, this.context = t4, this.__g = 0;
}
function S(n3, t4) {
  if (null == t4) return n3.__ && S(n3.__, n3.__i + 1);
  for (var r4; t4 < n3.__k.length; t4++) if ((r4 = n3.__k[t4]) && r4.__e) return r4.__e;
  return "function" != typeof n3.type || n3.props.__P ? null : S(n3);
}
function C(t4) {
  var r4, u4 = t4.__v, i4 = u4.__e, f5 = [], o5 = [], e4 = t4.__P;
  e4 && ((r4 = _({ constructor: h }, u4)).__v = u4.__v + 1, n.vnode && n.vnode(r4), z(e4, r4, u4, t4.__n, e4.namespaceURI, 32 & u4.__u ? [i4] : null, f5, i4 || S(u4), 32 & u4.__u, o5), r4.__v = u4.__v, r4.__.__k[r4.__i] = r4, E(f5, r4, o5), u4.__ = u4.__e = null, r4.__e != i4 && j(r4));
}
function j(n3) {
  if ((n3 = n3.__) && n3.__c && !n3.props.__P) return n3.__e = null, n3.__k.some(function(t4) {
    return t4 && (n3.__e = t4.__e);
  }), j(n3);
}
function L(t4) {
  (8 & t4.__g || (t4.__g |= 8, u.push(t4), f++)) && i == n.debounceRendering || ((i = n.debounceRendering) || queueMicrotask)(H);
}
function H() {
  try {
    for (var n3, t4 = 1; u.length; ) u.length > t4 && u.sort(o), n3 = u.shift(), t4 = u.length, 8 & n3.__g && C(n3);
  } finally {
    (f = u.length) && (i || queueMicrotask)(H);
  }
}
function I(n3, t4, r4, u4, i4, f5, o5, e4, l4, c4, a5) {
  var s4, h5, v4, w5, d5, _5, g5 = u4.__k || y, k4 = t4.length;
  for (l4 = q(r4, t4, g5, l4, k4), s4 = 0; s4 < k4; s4++) null != (v4 = r4.__k[s4]) && (h5 = ~v4.__i && g5[v4.__i] || p, v4.__i = s4, _5 = z(n3, v4, h5, i4, f5, o5, e4, l4, c4, a5), w5 = v4.__e, (h5.ref != v4.ref || 8 & h5.__u) && (h5.ref && G(h5.ref, null, v4, h5), v4.ref && a5.push(v4.ref, v4.__c || w5, v4)), d5 = d5 || w5, 4 & v4.__u ? (l4 = A(v4, l4, n3, !h5.__v), h5.__e && (h5.__e = null)) : "function" == typeof v4.type && void 0 !== _5 ? l4 = _5 : w5 && (l4 = w5.nextSibling), v4.__u &= -21);
  return r4.__e = d5, l4;
}
function q(n3, t4, r4, u4, i4) {
  var f5, o5, e4, l4, c4, a5, s4, p5, y5, v4 = r4.length, d5 = v4, _5 = 0, g5 = 0, k4 = n3.__k = Array(i4);
  for (f5 = 0; f5 < i4; f5++) null != (o5 = t4[f5]) && "boolean" != typeof o5 && "function" != typeof o5 ? ("object" != typeof o5 || o5.constructor === String ? o5 = k4[f5] = m(null, o5) : w(o5) ? o5 = k4[f5] = m($, { children: o5 }) : o5.constructor === h && o5.__b ? o5 = k4[f5] = m(o5.type, o5.props, o5.key, o5.ref, o5.__v) : k4[f5] = o5, l4 = f5 + _5, o5.__ = n3, o5.__b = n3.__b + 1, e4 = null, ~(c4 = o5.__i = P(o5, r4, l4, d5)) && (d5--, (e4 = r4[c4]) && (e4.__u |= 2)), e4 && e4.__v ? (o5.__u |= 16, c4 == l4 - 1 ? _5-- : c4 == l4 + 1 ? _5++ : c4 != l4 && (c4 > l4 ? _5-- : _5++, g5 = 1)) : (~c4 || (i4 > v4 ? _5-- : i4 < v4 && _5++), "function" != typeof o5.type && (o5.__u |= 4))) : k4[f5] = null;
  if (g5) {
    for (a5 = [], s4 = [], f5 = 0; f5 < i4; f5++) if ((o5 = k4[f5]) && 16 & o5.__u) {
      for (_5 = 0, p5 = a5.length; _5 < p5; ) a5[y5 = _5 + p5 >> 1] < o5.__i ? _5 = y5 + 1 : p5 = y5;
      a5[_5] = o5.__i, s4[f5] = _5 + 1;
    }
    for (_5 = a5.length; f5--; ) s4[f5] && (s4[f5] == _5 ? _5-- : k4[f5].__u |= 4);
  }
  if (d5) for (f5 = 0; f5 < v4; f5++) !(e4 = r4[f5]) || 2 & e4.__u || (e4.__e == u4 && (u4 = S(e4)), J(e4, e4));
  return u4;
}
function A(n3, t4, r4, u4) {
  var i4, f5, o5, e4;
  if ("function" == typeof n3.type) {
    if (n3.props.__P) return t4;
    if (i4 = n3.__k) for (f5 = 0; f5 < i4.length; f5++) i4[f5] && (i4[f5].__ = n3, t4 = A(i4[f5], t4, r4, false));
    return t4;
  }
  for (t4 && !t4.parentNode && (t4 = S(n3)) && !t4.parentNode && (t4 = null), o5 = n3.__e, e4 = t4; e4 && 8 == e4.nodeType; ) e4 = e4.nextSibling;
  for (o5 != e4 && (!u4 && r4.moveBefore && o5.parentNode ? r4.moveBefore(o5, t4) : r4.insertBefore(o5, t4 || null)), t4 = o5; (t4 = t4 && t4.nextSibling) && 8 == t4.nodeType && !t4.data.startsWith("$s"); ) ;
  return t4;
}
function P(n3, t4, r4, u4) {
  var i4, f5 = n3.key, o5 = n3.type, e4 = t4[r4], l4 = e4 && !(2 & e4.__u);
  if (null === e4 && null == f5 || l4 && f5 == e4.key && o5 == e4.type) return r4;
  if (u4 > (l4 ? 1 : 0)) {
    for (i4 = r4 - 1; i4 >= 0; i4--) if ((e4 = t4[i4]) && !(2 & e4.__u) && f5 == e4.key && o5 == e4.type) return i4;
    for (i4 = r4 + 1; i4 < t4.length; i4++) if ((e4 = t4[i4]) && !(2 & e4.__u) && f5 == e4.key && o5 == e4.type) return i4;
  }
  return -1;
}
function T(n3, t4, r4) {
  null == r4 && (r4 = ""), "-" == t4[0] ? n3.setProperty(t4, r4) : n3[t4] = r4;
}
function N(n3, t4, r4, u4, i4) {
  var f5, o5;
  if ("style" == t4) if ("string" == typeof r4) n3.style.cssText = r4;
  else {
    if ("string" == typeof u4 && (n3.style.cssText = u4 = ""), u4) for (t4 in u4) r4 && t4 in r4 || T(n3.style, t4);
    if (r4) for (t4 in r4) u4 && r4[t4] == u4[t4] || T(n3.style, t4, r4[t4]);
  }
  else if ("o" == t4[0] && "n" == t4[1]) "function" != typeof r4 && (r4 = null), "function" != typeof u4 && (u4 = null), (n3.__e || (n3.__e = {}))[t4] = r4, r4 && u4 || (o5 = a[t4] || (a[t4] = V(t4)), (n3.__a || (n3.__a = {}))[t4] = c, f5 = t4 != (t4 = t4.replace(l, "$1")), (t4 = t4.slice(2))[0] < "a" && (t4 = t4.toLowerCase()), r4 ? n3.addEventListener(t4, o5, f5) : n3.removeEventListener(t4, o5, f5));
  else {
    if ("http://www.w3.org/2000/svg" == i4) t4 = t4.replace(/xlink(H|:h)/, "h").replace(/sName$/, "s");
    else if ("width" != t4 && "height" != t4 && "href" != t4 && "list" != t4 && "form" != t4 && "tabIndex" != t4 && "download" != t4 && "rowSpan" != t4 && "colSpan" != t4 && "role" != t4 && "popover" != t4 && t4 in n3) try {
      return void (n3[t4] = null == r4 ? "" : r4);
    } catch (n4) {
    }
    if ("function" == typeof r4) return;
    null == r4 || false === r4 && "-" != t4[4] ? n3.removeAttribute(t4) : n3.setAttribute(t4, "popover" == t4 && 1 == r4 ? "" : r4);
  }
}
function V(t4) {
  return function(r4) {
    var u4 = this.__e;
    if (u4) {
      if (u4 = u4[t4], null == r4[e]) r4[e] = c++;
      else if (r4[e] < this.__a[t4]) return;
      return u4(n.event ? n.event(r4) : r4);
    }
  };
}
function z(t4, r4, u4, i4, f5, o5, e4, l4, c4, a5) {
  var s4, p5, v4, d5, k4, b3, m5, M3, C3, j3, L2, H2, q2, A4, O2, P2, T4, N2, V2 = r4.type;
  if (r4.constructor !== h) return null;
  128 & u4.__u && (c4 = 32 & u4.__u, s4 = u4.__c.__z) && (r4.__u |= c4, p5 = o5 = [], 8 == s4.nodeType ? l4 = B(s4, o5) : o5.push(s4), l4 = o5[0] || l4), (s4 = n.__b) && s4(r4);
  n: if ("function" == typeof V2) {
    v4 = e4.length;
    try {
      if (M3 = r4.props, C3 = (s4 = V2.prototype) && s4.render, j3 = (s4 = V2.contextType) && i4[s4.__c], L2 = s4 ? j3 ? j3.props.value : s4.__ : i4, (d5 = u4.__c) ? (r4.__c = d5, 2 & d5.__g && (d5.__g |= 1)) : (C3 ? r4.__c = d5 = new V2(M3, L2) : (r4.__c = d5 = new x(M3, L2), d5.constructor = V2, d5.render = K), j3 && j3.sub(d5), d5.state || (d5.state = {}), d5.__n = i4, d5.__g |= 8, d5.__h = [], d5.__k = []), C3 && (d5.__s || (d5.__s = d5.state), V2.getDerivedStateFromProps && (d5.__s == d5.state && (d5.__s = _({}, d5.__s)), _(d5.__s, V2.getDerivedStateFromProps(M3, d5.__s)))), k4 = d5.props, b3 = d5.state, d5.__v = r4, u4.__c) {
        if (M3 !== k4 && C3 && !V2.getDerivedStateFromProps && d5.componentWillReceiveProps && d5.componentWillReceiveProps(M3, L2), r4.__v == u4.__v && !(8 & d5.__g) || !(4 & d5.__g) && d5.shouldComponentUpdate && false === d5.shouldComponentUpdate(M3, d5.__s, L2)) {
          r4.__v != u4.__v && (d5.props = M3, d5.state = d5.__s, d5.__g &= -9), r4.__e = u4.__e, r4.__k = u4.__k, r4.__k.some(function(n3) {
            n3 && (n3.__ = r4);
          }), y.push.apply(d5.__h, d5.__k), d5.__k = [], d5.__h.length && e4.push(d5), l4 = S(u4);
          break n;
        }
        d5.componentWillUpdate && d5.componentWillUpdate(M3, d5.__s, L2), C3 && d5.componentDidUpdate && d5.__h.push(function() {
          d5.componentDidUpdate(k4, b3, m5);
        });
      } else C3 && !V2.getDerivedStateFromProps && d5.componentWillMount && d5.componentWillMount(), C3 && d5.componentDidMount && d5.__h.push(d5.componentDidMount);
      d5.context = L2, d5.props = M3, d5.__P = t4, d5.__g &= -5, H2 = n.__r, q2 = C3 ? 25 : 0;
      do {
        d5.__g &= -9, H2 && H2(r4), s4 = d5.render(d5.props, d5.state = d5.__s, d5.context);
      } while (8 & d5.__g && ++q2 < 25);
      C3 && (y.push.apply(d5.__h, d5.__k), d5.__k = []), d5.state = d5.__s, d5.getChildContext && (i4 = _({}, i4, d5.getChildContext())), C3 && u4.__c && d5.getSnapshotBeforeUpdate && (m5 = d5.getSnapshotBeforeUpdate(k4, b3)), A4 = s4 && s4.type === $ && null == s4.key ? s4.props.children : s4, M3.__P && (s4 = l4, f5 = (t4 = M3.__P).namespaceURI, c4 = o5 = null, u4.props && u4.props.__P != t4 && (u4.__k.some(function(n3) {
        n3 && J(n3, n3);
      }), u4.__k = null), l4 = u4.__k ? S(u4, 0) : null), l4 = I(t4, w(A4) ? A4 : [A4], r4, u4, i4, f5, o5, e4, l4, c4, a5), M3.__P && (r4.__e = null, l4 = s4), r4.__u &= -161, p5 && p5.some(g), d5.__h.length && e4.push(d5), 1 & d5.__g && (d5.__g &= -4);
    } catch (t5) {
      if (e4.length = v4, r4.__v = null, c4 || o5) if (t5 && t5.then) {
        if (r4.__u |= 128 | c4, o5) {
          for (~(T4 = o5.indexOf(l4 || void 0)) || (T4 = o5.length); (N2 = o5[T4 - 1]) && 8 == N2.nodeType; ) T4--;
          for (; T4 < o5.length; T4++) if (N2 = o5[T4]) if (o5[T4] = null, O2) {
            if (N2 == P2) break;
          } else {
            if (8 != N2.nodeType) break;
            N2.data.startsWith("$s") && (P2 = B(O2 = N2));
          }
        }
        if (!O2) {
          for (; l4 && 8 == l4.nodeType && l4.nextSibling; ) l4 = l4.nextSibling;
          O2 = l4;
        }
        (s4 = B(O2 = r4.__c.__z || (r4.__c.__z = O2))) ? (r4.__e = O2, l4 = s4) : r4.__e = l4, l4 = l4 && l4.nextSibling;
      } else o5 && o5.some(g);
      else r4.__e = u4.__e;
      r4.__k || (r4.__k = u4.__k || []), t5 && t5.then || D(r4), n.__e(t5, r4, u4);
    }
  } else l4 = r4.__e = F(u4.__e, r4, u4, i4, f5, o5, e4, c4, a5, t4);
  return (s4 = n.diffed) && s4(r4), l4;
}
function B(n3, t4) {
  if (n3 && 8 == n3.nodeType && n3.data.startsWith("$s")) for (var r4 = 1; n3 = n3.nextSibling; ) {
    if (8 == n3.nodeType) {
      if (n3.data.startsWith("$s")) r4++;
      else if (n3.data.startsWith("/$s") && !--r4) return n3;
    }
    t4 && t4.push(n3);
  }
}
function D(n3) {
  n3 && (n3.__c && (n3.__c.__g |= 4), n3.__k && n3.__k.some(D));
}
function E(t4, r4, u4) {
  for (var i4 = 0; i4 < u4.length; ) G(u4[i4++], u4[i4++], u4[i4++]);
  n.__c && n.__c(r4, t4), t4.some(function(r5) {
    try {
      t4 = r5.__h, r5.__h = [], t4.some(function(n3) {
        n3.call(r5);
      });
    } catch (t5) {
      n.__e(t5, r5.__v);
    }
  });
}
function F(t4, r4, u4, i4, f5, o5, e4, l4, c4, a5) {
  var s4, h5, y5, _5, k4, b3, m5, M3, $2 = u4.props || p, x3 = r4.props, C3 = r4.type;
  if ("svg" == C3 ? f5 = "http://www.w3.org/2000/svg" : "math" == C3 ? f5 = "http://www.w3.org/1998/Math/MathML" : f5 || (f5 = "http://www.w3.org/1999/xhtml"), o5) {
    for (s4 = 0; s4 < o5.length; s4++) if ((k4 = o5[s4]) && (C3 ? k4.localName == C3 : 3 == k4.nodeType)) {
      t4 = k4, o5[s4] = null;
      break;
    }
  }
  if (!t4) {
    if (M3 = a5.ownerDocument || document, !C3) return M3.createTextNode(x3);
    t4 = M3.createElementNS(f5, C3, x3.is ? x3 : a5), l4 && (n.__m && n.__m(r4, o5), l4 = false), o5 = null;
  }
  if (C3) {
    if (a5 = "template" == C3 && t4.content || t4, o5 = "textarea" == C3 && null != x3.defaultValue ? null : o5 && d.call(a5.childNodes), !l4 && o5) for ($2 = {}, s4 = 0; s4 < t4.attributes.length; s4++) $2[(k4 = t4.attributes[s4]).name] = k4.value;
    for (s4 in $2) k4 = $2[s4], "dangerouslySetInnerHTML" == s4 ? y5 = k4 : "children" == s4 || s4 in x3 || "value" == s4 && "defaultValue" in x3 || "checked" == s4 && "defaultChecked" in x3 || N(t4, s4, null, k4, f5);
    for (s4 in x3) k4 = x3[s4], "children" == s4 ? _5 = k4 : "dangerouslySetInnerHTML" == s4 ? h5 = k4 : "value" == s4 ? b3 = k4 : "checked" == s4 ? m5 = k4 : l4 && "function" != typeof k4 || $2[s4] === k4 || N(t4, s4, k4, $2[s4], f5);
    h5 ? (l4 || y5 && (h5.__html == y5.__html || h5.__html == t4.innerHTML) || (t4.innerHTML = h5.__html), r4.__k = []) : (y5 && (t4.textContent = ""), ("foreignObject" == C3 || "http://www.w3.org/1998/Math/MathML" == f5 && v.test(C3)) && (f5 = "http://www.w3.org/1999/xhtml"), I(a5, w(_5) ? _5 : [_5], r4, u4, i4, f5, o5, e4, o5 ? o5[0] : u4.__k && S(u4, 0), l4, c4), o5 && o5.some(g)), l4 && "textarea" != C3 || (s4 = "value", "progress" == C3 && null == b3 ? t4.removeAttribute(s4) : null == b3 || b3 === t4[s4] && ("progress" != C3 || b3) || N(t4, s4, b3, $2[s4], f5), s4 = "checked", null != m5 && m5 != t4[s4] && N(t4, s4, m5, $2[s4], f5));
  } else $2 === x3 || l4 && t4.data == x3 || (t4.data = x3);
  return t4;
}
function G(t4, r4, u4, i4) {
  try {
    "function" == typeof t4 ? r4 ? r4.__x = t4(r4) || 1 : i4 && (i4 = i4.__c || i4.__e) && (r4 = i4.__x) && (i4.__x = null, "function" == typeof r4 ? r4() : t4(null)) : t4.current = r4;
  } catch (t5) {
    n.__e(t5, u4);
  }
}
function J(t4, r4, u4) {
  var i4, f5, o5, e4;
  if (n.unmount && n.unmount(t4), !(i4 = t4.ref) || i4.current && i4.current != t4.__e || G(i4, null, r4, t4), i4 = t4.__c) {
    if (i4.componentWillUnmount) try {
      i4.componentWillUnmount();
    } catch (t5) {
      n.__e(t5, r4);
    }
    i4.__P = i4.__n = null;
  }
  if (i4 = t4.__k) for (e4 = 0; e4 < i4.length; e4++) i4[e4] && J(i4[e4], r4, "function" != typeof t4.type || u4 && !t4.props.__P);
  !u4 && (i4 = t4.__c) && (i4 = i4.__z) && (f5 = B(i4, o5 = [])) && (i4 == t4.__e && o5.some(g), g(f5), g(i4)), u4 || g(t4.__e), t4.__e = t4.__c = t4.__ = null;
}
function K(n3, t4, r4) {
  return this.constructor(n3, r4);
}
function Q(t4, r4) {
  var u4, i4, f5, o5;
  n.__ && n.__(t4, r4), 9 == r4.nodeType && (r4 = r4.documentElement), i4 = (u4 = t4 && 32 & t4.__u) ? null : r4.__k, r4.__k = m($, { children: [t4] }), f5 = [], o5 = [], z(r4, r4.__k, i4 || p, p, r4.namespaceURI, i4 ? null : r4.firstChild ? d.call(r4.childNodes) : null, f5, i4 ? i4.__e : r4.firstChild, u4, o5), E(f5, r4.__k, o5), r4.__k.props.children = null;
}
n = { __e: function(n3, t4, r4, u4) {
  for (var i4, o5, e4; t4 = t4.__; ) if ((i4 = t4.__c) && !(1 & i4.__g)) {
    i4.__g |= 4;
    try {
      if ((e4 = (o5 = i4.constructor) && o5.getDerivedStateFromError) && i4.setState(o5.getDerivedStateFromError(n3)), i4.componentDidCatch && (i4.componentDidCatch(n3, u4 || {}), e4 = 1), e4 && 8 & i4.__g) return void (i4.__g |= 2);
    } catch (t5) {
      n3 = t5;
    }
  }
  throw f = 0, n3;
} }, t = 0, r = function(n3) {
  return null != n3 && n3.constructor === h;
}, x.prototype.setState = function(n3, t4) {
  var r4 = this.__s;
  r4 && r4 != this.state || (r4 = this.__s = _({}, this.state)), "function" == typeof n3 && (n3 = n3(_({}, r4), this.props)), n3 && (_(r4, n3), this.__v && (t4 && this.__k.push(t4), L(this)));
}, x.prototype.forceUpdate = function(n3) {
  this.__v && (this.__g |= 4, n3 && this.__h.push(n3), L(this));
}, x.prototype.render = $, u = [], f = 0, o = function(n3, t4) {
  return n3.__v.__b - t4.__v.__b;
}, e = Symbol(), l = /(PointerCapture)$|Capture$/i, c = 0, a = {}, s = 0;

// node_modules/preact/hooks/dist/hooks.mjs
var t2;
var r2;
var u2;
var i2;
var o2 = Object.is;
var f2 = 0;
var c2 = [];
var e2 = [];
var a2 = n;
var v2 = a2.__b;
var l2 = a2.__r;
var m2 = a2.diffed;
var h2 = a2.__c;
var s2 = a2.unmount;
var p2 = a2.__;
function y2(n3, t4) {
  a2.__h && a2.__h(r2, n3, f2 || t4), f2 = 0;
  var u4 = r2.__H || (r2.__H = { __: [], __h: [] });
  return n3 >= u4.__.length && u4.__.push({}), u4.__[n3];
}
function d2(n3) {
  return f2 = 1, _2(G2, n3);
}
function _2(n3, u4, i4) {
  var f5 = y2(t2++, 2);
  if (f5.t = n3, !f5.__c && (f5.__ = [i4 ? i4(u4) : G2(void 0, u4), function(n4) {
    var t4 = (f5.__N || f5.__)[0], r4 = f5.t(t4, n4);
    o2(t4, r4) || (f5.__N = [r4, f5.__[1]], f5.__c.setState({}));
  }], f5.__c = r2, !r2.__f)) {
    r2.__f = true;
    var c4 = r2.shouldComponentUpdate;
    r2.shouldComponentUpdate = function(n4, t4, r4) {
      var u5 = this.__H;
      if (!u5) return true;
      var i5 = false, f6 = this.props != n4;
      if (u5.__.some(function(n5) {
        n5.__N && (i5 = true, o2(n5.__[0], n5.__N[0]) || (f6 = true));
      }), c4) {
        var e4 = c4.call(this, n4, t4, r4);
        return i5 ? e4 || f6 : e4;
      }
      return !i5 || f6;
    };
  }
  return f5.__;
}
function A2(n3, u4) {
  var i4 = y2(t2++, 3);
  !a2.__s && E2(i4.__H, u4) && (i4.__P = true, i4.__ = n3, i4.u = u4, r2.__H.__h.push(i4));
}
function F2(n3, u4) {
  var i4 = y2(t2++, 4);
  !a2.__s && E2(i4.__H, u4) && (i4.__P = false, i4.__ = n3, i4.u = u4, r2.__h.push(i4));
}
function T2(n3) {
  return f2 = 5, w2(function() {
    return { current: n3 };
  }, []);
}
function w2(n3, r4) {
  var u4 = y2(t2++, 7);
  return E2(u4.__H, r4) && (u4.__ = n3(), u4.__H = r4), u4.__;
}
function g2() {
  var n3;
  do {
    for (; n3 = e2.shift(); ) try {
      C2(n3);
    } catch (t5) {
      a2.__e(t5, { __: (n3 = n3.__P) && n3.__v });
    }
    for (; n3 = c2.shift(); ) {
      var t4 = n3.__H;
      if (n3.__P && t4) try {
        t4.__h.some(C2), t4.__h.some(D2), t4.__h = [];
      } catch (r4) {
        t4.__h = [], a2.__e(r4, n3.__v);
      }
    }
  } while (e2.length);
}
a2.__b = function(n3) {
  r2 = null, v2 && v2(n3);
}, a2.__ = function(n3, t4) {
  n3 && t4.__k && t4.__k.__m && (n3.__m = t4.__k.__m), p2 && p2(n3, t4);
}, a2.__r = function(n3) {
  l2 && l2(n3), t2 = 0;
  var i4 = (r2 = n3.__c).__H;
  i4 && (u2 == r2 ? r2.__h = [] : (i4.__h.some(C2), i4.__h.some(D2), t2 = 0), i4.__h = [], i4.__.some(function(n4) {
    n4.__N && (n4.__ = n4.__N), n4.u = n4.__N = void 0;
  })), u2 = r2;
}, a2.diffed = function(n3) {
  m2 && m2(n3);
  var t4 = n3.__c;
  t4 && t4.__H && (t4.__H.__h.length && B2(c2.push(t4)), t4.__H.__.some(function(n4) {
    n4.u && (n4.__H = n4.u);
  })), u2 = r2 = null;
}, a2.__c = function(n3, t4) {
  t4.some(function(n4) {
    try {
      n4.__h.some(C2), n4.__h = n4.__h.filter(function(n5) {
        return !n5.__ || D2(n5);
      });
    } catch (t5) {
      n4.__h = [function() {
        throw t5;
      }];
    }
  }), h2 && h2(n3, t4);
}, a2.unmount = function(n3) {
  s2 && s2(n3);
  var t4, r4, u4 = n3.__c;
  u4 && u4.__H && (u4.__H.__.some(function(u5) {
    try {
      if (u5.__P && u5.__c) {
        if (void 0 === r4) {
          for (r4 = n3.__; r4 && (!r4.__c || !r4.__c.__P); ) r4 = r4.__;
          r4 = r4 && r4.__c;
        }
        u5.__P = r4, B2(e2.push(u5));
      } else C2(u5);
    } catch (n4) {
      t4 = n4;
    }
  }), u4.__H = void 0, t4 && a2.__e(t4, u4.__v));
};
var k2 = "function" == typeof requestAnimationFrame;
function z2(n3) {
  var t4, r4 = function() {
    clearTimeout(u4), k2 && cancelAnimationFrame(t4), setTimeout(n3);
  }, u4 = setTimeout(r4, 35);
  k2 && (t4 = requestAnimationFrame(r4));
}
function B2(n3) {
  1 != n3 && i2 == a2.requestAnimationFrame || ((i2 = a2.requestAnimationFrame) || z2)(g2);
}
function C2(n3) {
  var t4 = r2, u4 = n3.__c;
  "function" == typeof u4 && (n3.__c = void 0, u4()), r2 = t4;
}
function D2(n3) {
  var t4 = r2;
  n3.__c = n3.__(), r2 = t4;
}
function E2(n3, t4) {
  return !n3 || n3.length != t4.length || t4.some(function(t5, r4) {
    return !o2(t5, n3[r4]);
  });
}
function G2(n3, t4) {
  return "function" == typeof t4 ? t4(n3) : t4;
}

// node_modules/@preact/signals-core/dist/signals-core.module.js
var i3 = Symbol.for("preact-signals");
function t3() {
  if (!(v3 > 1)) {
    var i4, t4 = false;
    !(function() {
      var i5 = c3;
      c3 = void 0;
      while (void 0 !== i5) {
        var t5 = i5.S;
        if (t5.v === i5.v) {
          for (var r5 = t5.t; void 0 !== r5; r5 = r5.x) if (r5.i === i5.i) r5.i = t5.i;
        }
        i5 = i5.o;
      }
    })();
    while (void 0 !== h3) {
      var r4 = h3;
      h3 = void 0;
      s3++;
      while (void 0 !== r4) {
        var n3 = r4.u;
        r4.u = void 0;
        r4.f &= -3;
        if (!(8 & r4.f) && w3(r4)) try {
          r4.c();
        } catch (r5) {
          if (!t4) {
            i4 = r5;
            t4 = true;
          }
        }
        r4 = n3;
      }
    }
    s3 = 0;
    v3--;
    if (t4) throw i4;
  } else v3--;
}
function r3(i4) {
  if (v3 > 0) return i4();
  u3 = ++e3;
  v3++;
  try {
    return i4();
  } finally {
    t3();
  }
}
var n2;
var o3 = void 0;
function f3(i4) {
  var t4 = o3, r4 = n2;
  o3 = void 0;
  n2 = void 0;
  try {
    return i4();
  } finally {
    o3 = t4;
    n2 = r4;
  }
}
var h3 = void 0;
var v3 = 0;
var s3 = 0;
var e3 = 0;
var u3 = 0;
var c3 = void 0;
var a3 = 0;
function d3(i4) {
  if (void 0 !== o3) {
    var t4 = i4.n;
    if (void 0 === t4 || t4.t !== o3) {
      t4 = { i: 0, S: i4, p: o3.s, n: void 0, t: o3, e: void 0, x: void 0, r: t4 };
      if (void 0 !== o3.s) o3.s.n = t4;
      o3.s = t4;
      i4.n = t4;
      if (32 & o3.f) i4.S(t4);
      return t4;
    } else if (-1 === t4.i) {
      t4.i = 0;
      if (void 0 !== t4.n) {
        t4.n.p = t4.p;
        if (void 0 !== t4.p) t4.p.n = t4.n;
        t4.p = o3.s;
        t4.n = void 0;
        o3.s.n = t4;
        o3.s = t4;
      }
      return t4;
    }
  }
}
function l3(i4, t4) {
  this.v = i4;
  this.i = 0;
  this.n = void 0;
  this.t = void 0;
  this.l = 0;
  this.W = null == t4 ? void 0 : t4.watched;
  this.Z = null == t4 ? void 0 : t4.unwatched;
  this.name = null == t4 ? void 0 : t4.name;
}
l3.prototype.brand = i3;
l3.prototype.h = function() {
  return true;
};
l3.prototype.S = function(i4) {
  var t4 = this, r4 = this.t;
  if (r4 !== i4 && void 0 === i4.e) {
    i4.x = r4;
    this.t = i4;
    if (void 0 !== r4) r4.e = i4;
    else f3(function() {
      var i5;
      null == (i5 = t4.W) || i5.call(t4);
    });
  }
};
l3.prototype.U = function(i4) {
  var t4 = this;
  if (void 0 !== this.t) {
    var r4 = i4.e, n3 = i4.x;
    if (void 0 !== r4) {
      r4.x = n3;
      i4.e = void 0;
    }
    if (void 0 !== n3) {
      n3.e = r4;
      i4.x = void 0;
    }
    if (i4 === this.t) {
      this.t = n3;
      if (void 0 === n3) f3(function() {
        var i5;
        null == (i5 = t4.Z) || i5.call(t4);
      });
    }
  }
};
l3.prototype.subscribe = function(i4) {
  var t4 = this;
  return x2(function() {
    var r4 = t4.value;
    f3(function() {
      return i4(r4);
    });
  }, { name: "sub" });
};
l3.prototype.valueOf = function() {
  return this.value;
};
l3.prototype.toString = function() {
  return this.value + "";
};
l3.prototype.toJSON = function() {
  return this.value;
};
l3.prototype.peek = function() {
  var i4 = this;
  return f3(function() {
    return i4.value;
  });
};
Object.defineProperty(l3.prototype, "value", { get: function() {
  var i4 = d3(this);
  if (void 0 !== i4) i4.i = this.i;
  return this.v;
}, set: function(i4) {
  if (i4 !== this.v) {
    if (s3 > 100) throw new Error("Cycle detected");
    !(function(i5) {
      if (0 !== v3 && 0 === s3) {
        if (i5.l !== u3) {
          i5.l = u3;
          c3 = { S: i5, v: i5.v, i: i5.i, o: c3 };
        }
      }
    })(this);
    this.v = i4;
    this.i++;
    a3++;
    v3++;
    try {
      for (var r4 = this.t; void 0 !== r4; r4 = r4.x) r4.t.N();
    } finally {
      t3();
    }
  }
} });
function y3(i4, t4) {
  return new l3(i4, t4);
}
function w3(i4) {
  for (var t4 = i4.s; void 0 !== t4; t4 = t4.n) if (t4.S.i !== t4.i || !t4.S.h() || t4.S.i !== t4.i) return true;
  return false;
}
function b(i4) {
  for (var t4 = i4.s; void 0 !== t4; t4 = t4.n) {
    var r4 = t4.S.n;
    if (void 0 !== r4) t4.r = r4;
    t4.S.n = t4;
    t4.i = -1;
    if (void 0 === t4.n) {
      i4.s = t4;
      break;
    }
  }
}
function _3(i4) {
  var t4 = i4.s, r4 = void 0;
  while (void 0 !== t4) {
    var n3 = t4.p;
    if (-1 === t4.i) {
      t4.S.U(t4);
      if (void 0 !== n3) n3.n = t4.n;
      if (void 0 !== t4.n) t4.n.p = n3;
    } else r4 = t4;
    t4.S.n = t4.r;
    if (void 0 !== t4.r) t4.r = void 0;
    t4 = n3;
  }
  i4.s = r4;
}
function j2(i4, t4) {
  l3.call(this, void 0, t4);
  this.x = i4;
  this.s = void 0;
  this.g = a3 - 1;
  this.f = 4;
}
j2.prototype = new l3();
j2.prototype.h = function() {
  this.f &= -3;
  if (1 & this.f) return false;
  if (32 == (36 & this.f)) return true;
  this.f &= -5;
  if (this.g === a3) return true;
  this.g = a3;
  this.f |= 1;
  if (this.i > 0 && !w3(this)) {
    this.f &= -2;
    return true;
  }
  var i4 = o3;
  try {
    b(this);
    o3 = this;
    var t4 = this.x();
    if (16 & this.f || this.v !== t4 || 0 === this.i) {
      this.v = t4;
      this.f &= -17;
      this.i++;
    }
  } catch (i5) {
    this.v = i5;
    this.f |= 16;
    this.i++;
  }
  o3 = i4;
  _3(this);
  this.f &= -2;
  return true;
};
j2.prototype.S = function(i4) {
  if (void 0 === this.t) {
    this.f |= 36;
    for (var t4 = this.s; void 0 !== t4; t4 = t4.n) t4.S.S(t4);
  }
  l3.prototype.S.call(this, i4);
};
j2.prototype.U = function(i4) {
  if (void 0 !== this.t) {
    l3.prototype.U.call(this, i4);
    if (void 0 === this.t) {
      this.f &= -33;
      for (var t4 = this.s; void 0 !== t4; t4 = t4.n) t4.S.U(t4);
    }
  }
};
j2.prototype.N = function() {
  if (!(2 & this.f)) {
    this.f |= 6;
    for (var i4 = this.t; void 0 !== i4; i4 = i4.x) i4.t.N();
  }
};
Object.defineProperty(j2.prototype, "value", { get: function() {
  if (1 & this.f) throw new Error("Cycle detected");
  var i4 = d3(this);
  this.h();
  if (void 0 !== i4) i4.i = this.i;
  if (16 & this.f) throw this.v;
  return this.v;
} });
function O(i4, t4) {
  return new j2(i4, t4);
}
function p3(i4) {
  var r4 = i4.j;
  i4.j = void 0;
  if ("function" == typeof r4) {
    v3++;
    var n3 = o3;
    o3 = void 0;
    try {
      r4();
    } catch (t4) {
      i4.f &= -2;
      i4.f |= 8;
      g3(i4);
      throw t4;
    } finally {
      o3 = n3;
      t3();
    }
  }
}
function g3(i4) {
  for (var t4 = i4.s; void 0 !== t4; t4 = t4.n) t4.S.U(t4);
  i4.x = void 0;
  i4.s = void 0;
  p3(i4);
}
function S2(i4) {
  if (o3 !== this) throw new Error("Out-of-order effect");
  _3(this);
  o3 = i4;
  this.f &= -2;
  try {
    if (8 & this.f) g3(this);
  } finally {
    t3();
  }
}
function m3(i4, t4) {
  this.x = i4;
  this.j = void 0;
  this.s = void 0;
  this.u = void 0;
  this.f = 32;
  this.name = null == t4 ? void 0 : t4.name;
  if (n2) n2.push(this);
}
m3.prototype.c = function() {
  var i4 = this.S();
  try {
    if (8 & this.f) return;
    if (void 0 === this.x) return;
    var t4 = this.x();
    if ("function" == typeof t4) this.j = t4;
  } finally {
    i4();
  }
};
m3.prototype.S = function() {
  if (1 & this.f) throw new Error("Cycle detected");
  this.f |= 1;
  this.f &= -9;
  p3(this);
  b(this);
  v3++;
  var i4 = o3;
  o3 = this;
  return S2.bind(this, i4);
};
m3.prototype.N = function() {
  if (!(2 & this.f)) {
    this.f |= 2;
    this.u = h3;
    h3 = this;
  }
};
m3.prototype.d = function() {
  this.f |= 8;
  if (!(1 & this.f)) g3(this);
};
m3.prototype.dispose = function() {
  this.d();
};
function x2(i4, t4) {
  var r4 = new m3(i4, t4);
  try {
    r4.c();
  } catch (i5) {
    r4.d();
    throw i5;
  }
  var n3 = r4.d.bind(r4);
  n3[Symbol.dispose] = n3;
  return n3;
}

// node_modules/@preact/signals/dist/signals.module.js
var h4;
var d4;
var p4;
var m4 = "undefined" != typeof window && !!window.__PREACT_SIGNALS_DEVTOOLS__;
var g4 = [];
x2(function() {
  h4 = this.N;
})();
function b2(i4, n3) {
  n[i4] = n3.bind(null, n[i4] || function() {
  });
}
function y4(i4) {
  if (p4) {
    var n3 = p4;
    p4 = void 0;
    n3();
  }
  p4 = i4 && i4.S();
}
function w4(i4) {
  var n3 = this, r4 = i4.data, t4 = useSignal(r4);
  t4.name = "ReactiveDom";
  t4.value = r4;
  var e4 = w2(function() {
    var i5 = n3, r5 = n3.__v;
    while (r5 = r5.__) if (r5.__c) {
      r5.__c.__$f |= 4;
      break;
    }
    var o5 = O(function() {
      var i6 = t4.value.value;
      return 0 === i6 ? 0 : true === i6 ? "" : i6 || "";
    }), e5 = O(function() {
      return !Array.isArray(o5.value) && !r(o5.value);
    }), u5 = x2(function() {
      this.N = M;
      if (e5.value) {
        var n4 = o5.value;
        if (i5.__v && i5.__v.__e && 3 === i5.__v.__e.nodeType) i5.__v.__e.data = n4;
      }
    }), c5 = n3.__$u.d;
    n3.__$u.d = function() {
      u5();
      c5.call(this);
    };
    return [e5, o5];
  }, []), u4 = e4[0], c4 = e4[1];
  return u4.value ? c4.peek() : c4.value;
}
w4.displayName = "ReactiveTextNode";
Object.defineProperties(l3.prototype, { constructor: { configurable: true, value: k($, null).constructor }, type: { configurable: true, value: w4 }, props: { configurable: true, get: function() {
  var i4 = this;
  return { data: { get value() {
    return i4.value;
  } } };
} }, __b: { configurable: true, value: 1 } });
b2("__b", function(i4, n3) {
  y4();
  d4 = void 0;
  if ("string" == typeof n3.type) {
    var r4, t4 = n3.props;
    for (var f5 in t4) if ("children" !== f5) {
      var o5 = t4[f5];
      if (o5 instanceof l3) {
        if (!r4) n3.__np = r4 = {};
        r4[f5] = o5;
        t4[f5] = o5.peek();
      }
    }
  }
  i4(n3);
});
b2("__r", function(i4, r4) {
  i4(r4);
  if (r4.type !== $) {
    y4();
    var t4, f5 = r4.__c;
    if (f5) {
      f5.__$f &= -2;
      if (void 0 === (t4 = f5.__$u)) f5.__$u = t4 = (function(i5, n3) {
        var r5;
        x2(function() {
          r5 = this;
        }, { name: n3 });
        r5.c = i5;
        return r5;
      })((function(i5) {
        return function() {
          var n3;
          if (m4) null == (n3 = this.y) || n3.call(this);
          i5.__$f |= 1;
          i5.setState({});
        };
      })(f5), "function" == typeof r4.type ? r4.type.displayName || r4.type.name : "");
    }
    d4 = f5;
    y4(t4);
  }
});
b2("__e", function(i4, n3, r4, t4) {
  y4();
  d4 = void 0;
  i4(n3, r4, t4);
});
b2("diffed", function(i4, n3) {
  y4();
  d4 = void 0;
  var r4;
  if ("string" == typeof n3.type && (r4 = n3.__e)) {
    var t4 = n3.__np, f5 = n3.props, o5 = r4.U;
    if (o5) for (var e4 in o5) {
      var u4 = o5[e4];
      if (!(void 0 === u4 || t4 && e4 in t4)) {
        u4.d();
        o5[e4] = void 0;
      }
    }
    if (t4) {
      if (!o5) {
        o5 = {};
        r4.U = o5;
      }
      for (var a5 in t4) {
        var c4 = o5[a5], v4 = t4[a5];
        if (void 0 === c4) {
          c4 = k3(r4, a5, v4, f5);
          o5[a5] = c4;
        } else c4.o(v4, f5);
      }
    }
  }
  i4(n3);
});
function k3(i4, n3, r4, t4) {
  var f5 = n3 in i4 && void 0 === i4.ownerSVGElement, o5 = y3(r4);
  return { o: function(i5, n4) {
    o5.value = i5;
    t4 = n4;
  }, d: x2(function() {
    this.N = M;
    var r5 = o5.value.value;
    if (t4[n3] !== r5) {
      t4[n3] = r5;
      if (f5) i4[n3] = r5;
      else if (null != r5 && (false !== r5 || "-" === n3[4])) i4.setAttribute(n3, r5);
      else i4.removeAttribute(n3);
    }
  }) };
}
b2("unmount", function(i4, n3) {
  if ("string" == typeof n3.type) {
    var r4 = n3.__e;
    if (r4) {
      var t4 = r4.U;
      if (t4) {
        r4.U = void 0;
        for (var f5 in t4) {
          var o5 = t4[f5];
          if (o5) o5.d();
        }
      }
    }
    var e4 = n3.__np;
    if (e4) {
      var u4 = n3.props;
      for (var a5 in e4) u4[a5] = e4[a5];
    }
    n3.__np = void 0;
  } else {
    var c4 = n3.__c;
    if (c4) {
      c4.__$f |= 8;
      var v4 = c4.__$u;
      if (v4) {
        c4.__$u = void 0;
        v4.d();
      }
    }
  }
  i4(n3);
});
b2("__h", function(i4, n3, r4, t4) {
  if (t4 < 3) n3.__$f |= 2;
  i4(n3, r4, t4);
});
x.prototype.shouldComponentUpdate = function(i4, n3) {
  if (this.__R) return true;
  var r4 = this.__$u, t4 = r4 && void 0 !== r4.s;
  for (var f5 in n3) return true;
  if (this.__f || "boolean" == typeof this.u && true === this.u) {
    var o5 = 2 & this.__$f;
    if (!(t4 || o5 || 4 & this.__$f)) return true;
    if (1 & this.__$f) return true;
  } else {
    if (!(t4 || 4 & this.__$f)) return true;
    if (3 & this.__$f) return true;
  }
  for (var e4 in i4) if ("__source" !== e4 && i4[e4] !== this.props[e4]) return true;
  for (var u4 in this.props) if (!(u4 in i4)) return true;
  return false;
};
function useSignal(i4, n3) {
  return w2(function() {
    return y3(i4, n3);
  }, []);
}
var A3 = function(i4) {
  queueMicrotask(function() {
    queueMicrotask(i4);
  });
};
function F3() {
  r3(function() {
    var i4;
    while (i4 = g4.shift()) h4.call(i4);
  });
}
function M() {
  if (1 === g4.push(this)) (n.requestAnimationFrame || A3)(F3);
}

// src/address.ts
var base = new URL(import.meta.url).pathname.replace(/\/page\/[^/]*$/, "");
function read() {
  const { pathname, search } = location;
  const path = pathname.startsWith(base) ? pathname.slice(base.length) : pathname;
  const decode = (part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  };
  return { path: path.split("/").filter(Boolean).map(decode), params: new URLSearchParams(search) };
}
var address = y3(read());
addEventListener("popstate", () => address.value = read());
var KEPT = ["live", "at", "span"];
function href(path, params = {}) {
  const query2 = new URLSearchParams();
  const isTime3 = KEPT.some((name) => name in params);
  for (const name of isTime3 ? [] : KEPT) {
    const value = address.value.params.get(name);
    if (value) query2.set(name, value);
  }
  for (const [name, value] of Object.entries(params)) if (value) query2.set(name, value);
  const text = query2.toString();
  return base + path + (text ? "?" + text : "");
}
function go(to, replace = false) {
  if (to !== location.pathname + location.search) {
    replace ? history.replaceState(null, "", to) : history.pushState(null, "", to);
  }
  address.value = read();
}
function set(params, replace = false) {
  const query2 = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(params)) value ? query2.set(name, value) : query2.delete(name);
  const text = query2.toString();
  go(location.pathname + (text ? "?" + text : ""), replace);
}
var param = (name) => address.value.params.get(name) ?? "";
function catchLinks(event) {
  const link = event.target.closest?.("a[href]");
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlain || event.defaultPrevented || link.target || link.hasAttribute("download")) return;
  const url = new URL(link.href);
  if (url.origin !== location.origin || url.pathname.startsWith(base + "/api/") || url.hash) return;
  event.preventDefault();
  go(url.pathname + url.search);
  scrollTo(0, 0);
}

// src/json.ts
var revive = (_key, value, context) => {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  return /^-?\d+$/.test(context.source) ? BigInt(context.source) : value;
};
function parse(text) {
  if (!/[[:,]\s*-?\d{16}/.test(text)) return JSON.parse(text);
  return JSON.parse(text, revive);
}
function isExact() {
  return parse("[9007199254740993]")[0] === 9007199254740993n;
}

// src/units.ts
var UNKNOWN = "–";
var THIN = " ";
var significant = (value) => value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
var trimmed = (text) => text.includes(".") ? text.replace(/\.?0+$/, "") : text;
function duration(nanos) {
  if (nanos === null || nanos === void 0) return UNKNOWN;
  const value = Number(nanos);
  const size = Math.abs(value);
  const sign2 = value < 0 ? "−" : "";
  const scaled = (unit, name) => sign2 + trimmed(significant(size / unit)) + THIN + name;
  if (size < 1e3) return `${sign2}${Math.round(size)}${THIN}ns`;
  if (size < 999500) return scaled(1e3, "µs");
  if (size < 9995e5) return scaled(1e6, "ms");
  if (size < 6e11) return scaled(1e9, "s");
  if (size < 72e11) return scaled(6e10, "min");
  return size < 1728e11 ? scaled(36e11, "h") : scaled(864e11, "d");
}
function count(value) {
  if (value === null || value === void 0) return UNKNOWN;
  return value.toString().replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}
function bytes(value) {
  if (value === null || value === void 0) return UNKNOWN;
  const size = Number(value);
  if (size < 1024) return `${count(size)}${THIN}B`;
  const names = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  const power = Math.min(names.length, Math.floor(Math.log2(size) / 10));
  return trimmed(significant(size / 1024 ** power)) + THIN + names[power - 1];
}
function occupancy(value, inBytes, unit) {
  if (value === null || value === void 0) return UNKNOWN;
  if (inBytes !== null && inBytes !== void 0) return bytes(inBytes);
  return `${count(value)}${THIN}${unit ?? "(unit unknown)"}`;
}
var rate = (value) => value === null || value === void 0 ? UNKNOWN : (Math.abs(Number(value)) < 10 ? String(Number(Number(value).toPrecision(2))) : count(Math.round(Number(value)))) + "/s";
function permille(value) {
  if (value === null || value === void 0) return UNKNOWN;
  const text = (Number(value) / 10).toFixed(1);
  return (Number(value) > 0 && text === "0.0" ? "under 0.1" : trimmed(text)) + THIN + "%";
}
var plural = (value, one, many = one + "s") => `${count(value)} ${Number(value) === 1 ? one : many}`;
var PROTOCOLS = { 1: "icmp", 6: "tcp", 17: "udp", 47: "gre", 58: "icmp6", 132: "sctp" };
var protocol = (number) => PROTOCOLS[number] ?? `protocol ${number}`;
function shown(text, longest = 256) {
  if (text === null || text === void 0) return UNKNOWN;
  const visible = text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (mark2) => {
    return "⟨U+" + mark2.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + "⟩";
  });
  const cut2 = visible.length > longest ? visible.slice(0, longest) + "…" : visible;
  return RIGHT_TO_LEFT.test(cut2) ? `⁨${cut2}⁩` : cut2;
}
var RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

// src/api.ts
var Refusal = class extends Error {
  constructor(asked, message, status) {
    super(message);
    this.asked = asked;
    this.status = status;
  }
  asked;
  status;
};
var token = y3(sessionStorage.getItem("inband-token") ?? "");
var isTokenWanted = y3(false);
var ahead = y3(0n);
var patience = { ms: 15e3 };
function giveToken(text) {
  sessionStorage.setItem("inband-token", text);
  token.value = text;
  isTokenWanted.value = false;
}
function headers() {
  return token.value ? { authorization: "Bearer " + token.value } : {};
}
var turns = [Promise.resolve(), Promise.resolve()];
var next = 0;
function ask(path, init = {}) {
  if (!/^query$|^reports|[?&](from|to)=/.test(path)) return once(path, init);
  next = 1 - next;
  const answer = turns[next].then(() => patiently(path, init));
  turns[next] = answer.catch(() => void 0);
  return answer;
}
async function patiently(path, init) {
  for (let left = 20; ; left--) {
    try {
      return await once(path, init);
    } catch (error) {
      const isBusy = error instanceof Refusal && error.status === 503 && error.message.startsWith("other questions");
      if (!isBusy || left === 0 || init.signal?.aborted) throw error;
      await new Promise((done) => setTimeout(done, 150));
    }
  }
}
async function once(path, init) {
  if (init.signal?.aborted) throw new Refusal(path, CANCELLED, 0);
  const asked = `${init.method ?? "GET"} /api/v1/${path}`;
  let answer;
  let text;
  try {
    const signals = [AbortSignal.timeout(patience.ms), ...init.signal ? [init.signal] : []];
    answer = await fetch(`${base}/api/v1/${path}`, {
      ...init,
      headers: { ...headers(), ...init.headers },
      signal: AbortSignal.any(signals)
    });
    noteClock(answer);
    text = await answer.text();
  } catch (error) {
    const isLate = error instanceof DOMException && error.name === "TimeoutError";
    const why = isLate ? `no answer within ${patience.ms / 1e3} s` : init.signal?.aborted ? CANCELLED : AWAY;
    throw new Refusal(asked, why, 0);
  }
  if (answer.status === 401) isTokenWanted.value = true;
  return read2(asked, answer, text);
}
var CANCELLED = "the request was cancelled";
var AWAY = "the collector cannot be reached";
var isAway = ({ message, status }) => status === 0 && message === AWAY || [502, 503, 504].includes(status);
function read2(asked, answer, text) {
  const status = `HTTP ${answer.status} ${answer.statusText}`.trim();
  let body;
  try {
    body = parse(text);
  } catch {
    throw new Refusal(asked, `incomplete or invalid answer (${status}, ${plural(text.length, "character")}, not JSON)`, answer.status);
  }
  if (!answer.ok) throw new Refusal(asked, String(body?.error ?? status), answer.status);
  return body;
}
async function file(path, init) {
  const answer = await fetch(`${base}/api/v1/${path}`, { ...init, headers: { ...headers(), ...init.headers }, signal: AbortSignal.timeout(Math.max(6e4, patience.ms)) });
  if (answer.status === 401) isTokenWanted.value = true;
  if (!answer.ok) read2(`${init.method ?? "GET"} /api/v1/${path}`, answer, await answer.text());
  return answer.blob();
}
async function sql(text, signal) {
  const body = JSON.stringify({ sql: text });
  const init = { method: "POST", body, headers: { "content-type": "application/json" }, signal: signal ?? null };
  const { columns: columns3, rows } = await ask("query", init);
  return rows.map((row) => Object.fromEntries(columns3.map((name, at) => [name, row[at]])));
}
var now = () => BigInt(Date.now()) * 1000000n + ahead.value;
var JITTER = 2000000000n;
function noteClock(answer) {
  const said2 = Date.parse(answer.headers.get("date") ?? "");
  if (Number.isNaN(said2)) return;
  const off2 = BigInt(said2 - Date.now()) * 1000000n;
  const change3 = off2 - ahead.value;
  if (change3 > JITTER || change3 < -JITTER) ahead.value = off2;
}

// src/names.ts
var nodes = y3(new Map());
var [askedAt, pause] = [0, 0];
async function learn() {
  if (Date.now() - askedAt < pause) return;
  askedAt = Date.now();
  try {
    const list = await ask("nodes");
    pause = list.length > 500 ? 12e4 : 1e4;
    nodes.value = new Map([...nodes.value, ...named(list.map(({ node_id, name }) => [node_id, name]))]);
  } catch {
  }
}
var named = (all) => all.map(([id, name]) => [id, name?.trim() && name || ""]);
function nameSilent(all) {
  nodes.value = new Map([...named(all), ...nodes.value]);
}
function node(id) {
  const name = nodes.value.get(id);
  return name ? shown(name, 64) : `node ${id}`;
}

// src/about.ts
var tables = y3([]);
var units = y3(new Map());
var thresholds = y3(void 0);
var askedAt2 = 0;
async function learnAbout() {
  if (Date.now() - askedAt2 < 6e4) return;
  askedAt2 = Date.now();
  try {
    const about = await ask("about");
    units.value = new Map(about.nodes.map((node2) => [node2.node, node2]));
    nameSilent(about.nodes.map(({ node: node2, name }) => [node2, name]));
    thresholds.value = about.congestion;
    tables.value = about.tables;
    patience.ms = Math.max(15e3, (about.limits.query_seconds + 5) * 1e3);
  } catch {
    askedAt2 = 0;
  }
}
function depthOf(node2, value) {
  const unit = units.value.get(node2);
  return occupancy(value, bytesOf(unit, value), unit?.queue_unit);
}
function depthOfAny(value) {
  const all = new Set([...nodes.value.keys()].map((node2) => depthOf(node2, value)));
  return all.size === 1 ? [...all][0] : count(value);
}
function permilleOf(node2, value) {
  const full = units.value.get(node2)?.utilization_full;
  return full && value !== null ? 1e3 * value / full : null;
}
function permilleOfAll(nodes2, value) {
  const all = new Set(nodes2.map((node2) => permilleOf(node2, value)));
  return all.size === 1 ? [...all][0] : null;
}
function depthThresholds(node2) {
  const [unit, set2] = [units.value.get(node2), thresholds.value];
  const size = unit?.queue_unit === "bytes" ? 1 : unit?.queue_unit === "cells" ? unit.cell_bytes : null;
  const least = (depth, inBytes) => {
    const all = [depth ?? null, inBytes !== null && inBytes !== void 0 && size ? inBytes / size : null].filter((one) => one !== null);
    return all.length ? Math.min(...all) : null;
  };
  return { trigger: least(set2?.trigger_occupancy, set2?.trigger_bytes), reset: least(set2?.reset_occupancy, set2?.reset_bytes) };
}
var bytesOf = (unit, value) => value === null || !unit ? null : unit.queue_unit === "bytes" ? value : unit.queue_unit === "cells" && unit.cell_bytes ? value * unit.cell_bytes : null;

// src/stream.ts
var cutOffSince = y3(void 0);
var totals = y3(void 0);
var eventsHeard = y3(0);
var [heardAt, hearing] = [0, 0];
function hear() {
  hearing ||= window.setTimeout(() => {
    [heardAt, hearing] = [Date.now(), 0];
    eventsHeard.value += 1;
  }, Math.max(0, heardAt + 2e3 - Date.now()));
}
var history2 = [];
var isBeginning = y3(true);
var lastId = "";
async function follow() {
  for (let pause3 = 500; ; ) {
    const started = Date.now();
    try {
      await read3();
    } catch {
    }
    cutOffSince.value ??= now();
    pause3 = Date.now() - started > 5e3 ? 500 : Math.min(pause3 * 1.5, 3e3);
    const given = token.value;
    for (let waited = 0; waited < pause3 && given === token.value; waited += 100) await sleep(100);
  }
}
async function read3() {
  const gone = new AbortController();
  const patiently2 = (answer) => {
    const silence2 = setTimeout(() => gone.abort(), 2e4);
    return answer.finally(() => clearTimeout(silence2));
  };
  try {
    await listen(gone.signal, patiently2);
  } finally {
    gone.abort();
  }
}
async function listen(signal, patiently2) {
  const more = lastId ? { "last-event-id": lastId } : {};
  const init = { headers: { ...headers(), ...more }, signal };
  const answer = await patiently2(fetch(`${base}/api/v1/stream`, init));
  if (answer.status === 401) isTokenWanted.value = true;
  if (!answer.ok || !answer.body) throw new Error(answer.statusText);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (; ; ) {
    const { done, value } = await patiently2(reader.read());
    if (done) return;
    cutOffSince.value = void 0;
    const messages = (rest + value.replace(/\r/g, "")).split("\n\n");
    rest = messages.pop() ?? "";
    messages.forEach(take);
  }
}
function take(message) {
  const fields = message.split("\n").map((line2) => [line2.slice(0, line2.indexOf(":")), line2.slice(line2.indexOf(":") + 1).trimStart()]);
  const of = (name2) => fields.filter(([key3]) => key3 === name2).map(([, value]) => value).join("\n");
  if (of("id")) lastId = of("id");
  const name = of("event");
  if (name === "event" || name === "missed") hear();
  if (name !== "ledger") return;
  const found2 = parse(of("data"));
  isBeginning.value = false;
  totals.value = found2;
  history2.push({ at: Number(now() / 1000000n) / 1e3, totals: found2 });
  if (history2.length > 900) history2.shift();
}
var sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// node_modules/preact/jsx-runtime/dist/jsxRuntime.mjs
var f4 = Symbol.for("pv");
var o4 = 0;
function a4(t4, e4, n3, u4, a5, i4) {
  e4 || (e4 = {});
  var c4, l4, p5 = e4;
  if ("ref" in p5 && "function" != typeof t4) for (l4 in p5 = {}, e4) "ref" == l4 ? c4 = e4[l4] : p5[l4] = e4[l4];
  var s4 = { type: t4, props: p5, key: n3, ref: c4, __k: null, __: null, __b: 0, __e: null, __c: null, constructor: f4, __v: --o4, __i: -1, __u: 0 };
  return (a5 || i4) && (s4.__source = a5, s4.__self = i4), n.vnode && n.vnode(s4), s4;
}

// src/parts/answer.tsx
var isReady = y3(false);
function Answer({ asked, children }) {
  const { data, error, isStale, isSlow, again } = asked;
  const hasData2 = data !== void 0;
  A2(() => {
    if (hasData2 || error) isReady.value = true;
  }, [hasData2, error]);
  const isOld = isStale || cutOffSince.value !== void 0;
  return a4($, { children: [
    isSlow && a4("div", { class: "progress", role: "progressbar", "aria-label": "Loading" }),
    error && a4(Refused, { error, again, hasOld: hasData2 }),
    hasData2 && a4("div", { class: isOld ? "stale" : void 0, children: children(data) }),
    !hasData2 && !error && a4("p", { class: "muted", children: "Loading …" })
  ] });
}
function Refused({ error, again, hasOld }) {
  if (error.message.startsWith("no history is kept")) return a4("p", { class: "notice", children: "No history is kept ([store] path is empty): there are live data and events only." });
  return a4("div", { class: "refused", role: "alert", children: [
    a4("strong", { children: error.status === 401 ? "A token is needed" : "Request failed" }),
    a4("p", { children: [
      shown(error.message, 600),
      hasOld && "; showing the last data"
    ] }),
    a4("p", { class: "muted", children: [
      "request: ",
      a4("code", { children: shown(error.asked) })
    ] }),
    a4("button", { onClick: again, children: "Retry" })
  ] });
}
function Empty({ children }) {
  return a4("p", { class: "empty", children });
}

// src/packets.ts
var KEY = "time, reporter, hw_id, sequence, report_index";
var packetTime = (name) => /^(\d{1,10}-){4}\d{1,19}$/.test(name) ? BigInt(name.slice(name.lastIndexOf("-") + 1)) : void 0;
var packetName = (packet) => [packet.reporter, packet.hw_id, packet.sequence, packet.report_index, packet.time].join("-");
var within = (id, from, to) => `flow_id = ${id} AND time >= ${from} AND time < ${to}`;
function packetsOf(id, from, to, order, signal) {
  const by2 = order === "time" ? "time DESC" : "total DESC, time DESC";
  return sql(
    `SELECT ${KEY}, count(*) AS hops, max(hop_count) AS hop_count, sum(hop_latency) AS total, max(hop_latency) AS longest, max(dropped) AS dropped FROM observations WHERE ${within(id, from, to)} GROUP BY ${KEY} ORDER BY ${by2} LIMIT 60`,
    signal
  );
}
function hopsOf(id, name, signal) {
  const [reporter, hw, sequence, index, time] = name.split("-").map((part) => /^\d{1,19}$/.test(part) ? part : "0");
  return sql(
    `SELECT * FROM observations WHERE flow_id = ${id} AND time = ${time} AND reporter = ${reporter} AND hw_id = ${hw} AND sequence = ${sequence} AND report_index = ${index} ORDER BY hop_index`,
    signal
  );
}
async function usual(id, from, to, signal) {
  const rows = await sql(
    `SELECT node_id, egress_interface, min(hop_latency) AS least, quantile(hop_latency, 0.5) AS p50, quantile(hop_latency, 0.99) AS p99, count(hop_latency) AS reports FROM observations WHERE ${within(id, from, to)} GROUP BY 1, 2`,
    signal
  );
  return new Map(rows.map((row) => [hopKey(row), row]));
}
var hopKey = (hop) => `${hop.node_id}.${hop.egress_interface ?? "*"}`;
async function linksKnown(nodes2, signal) {
  const links = await Promise.all([...new Set(nodes2)].map((node2) => ask(`links?limit=1000&node=${node2}`, { signal })));
  return new Map(
    links.flat().map((link) => [
      linkKey(link.from, link.egress_interface, link.to, link.ingress_interface),
      { uncertainty: link.clock_uncertainty, lastSeen: link.last_seen }
    ])
  );
}
async function lastOn(id, path, until, signal) {
  const rows = await sql(
    `SELECT * FROM observations WHERE ${within(id, until - 2000000000n, until + 1n)} ORDER BY time DESC, reporter, hw_id, sequence, report_index, hop_index LIMIT 400`,
    signal
  );
  const packets = new Map();
  for (const row of rows) packets.set(packetName(row), [...packets.get(packetName(row)) ?? [], row]);
  const went = (hops) => hops.length === path.length && hops.every((hop, at) => hop.node_id === path[at].node_id);
  return [...packets.values()].find(went) ?? [];
}
var linkKey = (from, egress, to, ingress) => `${from}.${egress ?? "*"}-${to}.${ingress ?? "*"}`;
var isTime = (stamp) => stamp !== null && BigInt(stamp) > 0xffffffffn;
function pieces(hops, known2) {
  const all = [];
  let at = 0;
  let sum2 = null;
  let isWhole = hops[0]?.origin === "md-stack" && hops[0].hop_count <= hops.length;
  const take2 = (length) => {
    isWhole &&= length !== null;
    at += Math.max(0, length ?? 0);
    if (length !== null) sum2 = (sum2 ?? 0) + length;
  };
  hops.forEach((hop, index) => {
    all.push({ kind: "hop", hop, start: at, length: hop.hop_latency });
    take2(hop.hop_latency);
    const next2 = hops[index + 1];
    if (!next2) return;
    const [sent, came] = [hop.egress_timestamp, next2.ingress_timestamp];
    const length = isTime(sent) && isTime(came) ? Number(BigInt(came) - BigInt(sent)) : null;
    const key3 = linkKey(hop.node_id, hop.egress_interface, next2.node_id, next2.ingress_interface);
    const uncertainty = known2.get(key3)?.uncertainty ?? null;
    all.push({ kind: "link", from: hop, to: next2, start: at, length, uncertainty });
    take2(uncertainty === null ? null : length);
  });
  return { pieces: all, sum: sum2, end: at, isWhole };
}

// src/time.ts
var SECOND = 1000000000n;
var MINUTE = 60n * SECOND;
var isUtc = y3(localStorage.getItem("inband-zone") !== "local");
isUtc.subscribe((utc) => localStorage.setItem("inband-zone", utc ? "utc" : "local"));
var zone = () => isUtc.value ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone;
var formats = new Map();
function format(options2) {
  const timeZone = isUtc.value ? "UTC" : void 0;
  const key3 = JSON.stringify([options2, timeZone]);
  let known2 = formats.get(key3);
  if (!known2) formats.set(key3, known2 = new Intl.DateTimeFormat("en-GB", { ...options2, timeZone, hourCycle: "h23" }));
  return known2;
}
var date = (time) => new Date(Number(time / 1000000n));
var CLOCK = { hour: "2-digit", minute: "2-digit", second: "2-digit" };
var DATE = { day: "numeric", month: "short" };
var DAY = { year: "numeric", month: "2-digit", day: "2-digit" };
function clock(time) {
  const text = format(CLOCK).format(date(time));
  const day = calendar(time);
  return day === calendar(BigInt(Date.now()) * 1000000n) ? text : `${day} ${text}`;
}
function mark(seconds2, step3) {
  const time = BigInt(Math.round(seconds2 * 1e6)) * 1000n;
  if (step3 >= 86400) return format(DATE).format(date(time));
  if (step3 >= 10800) return format({ ...DATE, hour: "2-digit", minute: "2-digit" }).format(date(time));
  const isWhole = (many) => Math.abs(many - Math.round(many)) < 1e-6;
  const digits = [0, 1, 2, 3, 4, 5].find((digits2) => isWhole(step3 * 10 ** digits2)) ?? 6;
  return format(CLOCK).format(date(time)) + (digits ? "." + fraction(time).slice(0, digits) : "");
}
var millis = (time) => clock(time) + "." + fraction(time).slice(0, 3);
function exact(time) {
  const digits = fraction(time);
  const groups3 = [digits.slice(0, 3), digits.slice(3, 6), digits.slice(6)].join(" ");
  return `${clock(time)}.${groups3} ${zone()}`;
}
function calendar(time) {
  const parts = Object.fromEntries(format(DAY).formatToParts(date(time)).map(({ type, value }) => [type, value]));
  return `${parts.year}-${parts.month}-${parts.day}`;
}
var fraction = (time) => (time % SECOND).toString().padStart(9, "0");
var UNITS = [
  ["ns", 1n],
  ["us", 1000n],
  ["ms", 1000000n],
  ["s", SECOND],
  ["m", MINUTE],
  ["h", 60n * MINUTE],
  ["d", 24n * 60n * MINUTE]
];
function parseSpan(text) {
  const found2 = /^(\d{1,19})(ns|us|ms|s|m|h|d)$/.exec(text);
  const unit = UNITS.find(([name]) => name === found2?.[2]);
  const span = found2 && unit ? BigInt(found2[1]) * unit[1] : 0n;
  return span > 0n ? span : void 0;
}
function writeSpan(span) {
  const [name, unit] = UNITS.findLast(([, unit2]) => span % unit2 === 0n) ?? UNITS[0];
  return span / unit + name;
}
function ago(time, now2) {
  const seconds2 = Number((now2 - time) / 1000000n) / 1e3;
  if (seconds2 < 1) return "now";
  if (seconds2 < 100) return `${Math.round(seconds2)} s ago`;
  if (seconds2 < 6e3) return `${Math.round(seconds2 / 60)} min ago`;
  if (seconds2 < 172800) return `${Math.round(seconds2 / 3600)} h ago`;
  return `${Math.round(seconds2 / 86400)} d ago`;
}

// src/range.ts
var DEFAULT_SPAN = 15n * MINUTE;
var [LEAST_SPAN, MOST_SPAN] = [1000n, 366n * 24n * 60n * MINUTE];
var inLimits = (span) => span < LEAST_SPAN ? LEAST_SPAN : span > MOST_SPAN ? MOST_SPAN : span;
var tick = y3(0);
setInterval(() => {
  if (!document.hidden) tick.value += 1;
}, 1e3);
var pulse = O(() => Math.floor(tick.value / 5));
function range() {
  const { params } = address.value;
  const at = params.get("at");
  if (at && /^\d{1,19}$/.test(at)) {
    const span2 = inLimits(parseSpan(params.get("span") ?? "") ?? MINUTE);
    const middle = BigInt(at);
    return { isLive: false, from: middle - span2 / 2n, to: middle + span2 / 2n, span: span2 };
  }
  const span = inLimits(parseSpan(params.get("live") ?? "") ?? DEFAULT_SPAN);
  const to = now();
  return { isLive: true, from: to - span, to, span };
}
var SETTLING = 10n * SECOND;
function timeAsked(every = 5e3) {
  const { isLive, from, to, span } = range();
  return isLive ? [`live ${span} ${ahead.value}`, every] : [`${from} ${to}`, to + SETTLING > now() ? every : void 0];
}
var around = (at, span) => ({ at: at.toString(), span: writeSpan(span), live: void 0 });
function freeze() {
  const { isLive, to, span } = range();
  isLive ? set(around(to - span / 2n, span)) : set({ live: writeSpan(span), at: void 0, span: void 0 });
}
function frozenAddress() {
  const { isLive, to, span } = range();
  const url = new URL(location.href);
  if (isLive) {
    url.searchParams.delete("live");
    url.searchParams.set("at", (to - span / 2n).toString());
    url.searchParams.set("span", writeSpan(span));
  }
  return url.href;
}
var isLatest = () => range().isLive || range().to >= now();
function step(spans) {
  if (spans > 0 && isLatest()) return;
  const { from, to, span } = range();
  set(around((from + to) / 2n + BigInt(spans) * span, span));
}
function show(span) {
  const { isLive, from, to } = range();
  set(isLive ? { live: writeSpan(span) } : around((from + to) / 2n, span));
}
function zoom(by2) {
  const { from, to, span } = range();
  set(around((from + to) / 2n, inLimits(BigInt(Math.round(Number(span) / by2)))));
}
var SPANS = ["1m", "5m", "15m", "1h", "6h", "1d", "7d"];

// src/flow.ts
var lastFlow = y3(sessionStorage.getItem("inband-flow") ?? "");
lastFlow.subscribe((id) => sessionStorage.setItem("inband-flow", id));
var flowAddress = (flow) => [flow.protocol, flow.source, flow.source_port, flow.destination, flow.destination_port].map(encodeURIComponent).join("-");
async function resolve(name) {
  if (/^\d{1,19}$/.test(name)) return name;
  const [protocol2, source, sourcePort, destination, destinationPort] = name.split("-");
  const isTuple = [protocol2, sourcePort, destinationPort].every((part) => /^\d{1,5}$/.test(part ?? ""));
  const isPlain = [source, destination].every((part) => /^[0-9a-fA-F.:]{2,45}$/.test(part ?? ""));
  if (!isTuple || !isPlain) return null;
  const is = (quote) => `source = ${quote + source + quote} and destination = ${quote + destination + quote} and protocol = ${protocol2} and source_port = ${sourcePort} and destination_port = ${destinationPort}`;
  const live = await ask("flows/search?limit=1&filter=" + encodeURIComponent(is("")));
  if (live.columns.id[0]) return live.columns.id[0];
  const { from, to } = range();
  const [row] = await sql(
    `SELECT flow_id FROM paths WHERE ${is("'")} UNION ALL SELECT flow_id FROM observations WHERE time >= ${from} AND time < ${to} AND ${is("'")} LIMIT 1`
  );
  return row ? String(row.flow_id) : null;
}
async function found(id, signal) {
  const live = await ask("flows/" + id, { signal }).catch((error) => {
    if (error.status !== 404) throw error;
  });
  const { from, to, isLive } = range();
  if (live && isLive) return { ...live, isActive: true };
  const read4 = (what) => sql(`SELECT * FROM ${what} ORDER BY time DESC LIMIT 8`, signal).catch(() => []);
  const asked = [`paths WHERE flow_id = ${id} AND time < ${to}`, `observations WHERE ${within(id, from, to)}`];
  const [rows, [last]] = await Promise.all(asked.map(read4));
  const flow = last ?? rows[0];
  const hop = (text) => ({ node_id: Number(text.split(":").at(-2) ?? text) });
  const first2 = rows.filter(({ path_id }, at) => path_id !== rows[at + 1]?.path_id);
  const paths = first2.map(({ time: since, path_id: id2, path }, at) => {
    const until = first2[at - 1]?.time ?? null;
    return { id: id2, path: path.split(" > ").map(hop), since, until, current: false };
  });
  return { flow: live?.flow ?? (flow && { flow, last_seen: last?.time }), isActive: !!live, paths };
}

// src/keys.ts
var areKeysOn = y3(localStorage.getItem("inband-keys") !== "off");
areKeysOn.subscribe((on2) => localStorage.setItem("inband-keys", on2 ? "on" : "off"));
var isHelpOpen = y3(false);
var said = y3("");
var theme = y3(localStorage.getItem("inband-theme") ?? "system");
theme.subscribe((theme2) => {
  localStorage.setItem("inband-theme", theme2);
  document.documentElement.dataset.theme = theme2;
});
var outside = matchMedia("(prefers-color-scheme: dark)");
var isDarkOutside = y3(outside.matches);
outside.addEventListener("change", () => isDarkOutside.value = outside.matches);
var isDark = O(() => {
  return theme.value === "system" ? isDarkOutside.value : theme.value === "dark";
});
function turnTheme() {
  theme.value = isDark.value ? "light" : "dark";
}
var copied = { text: void 0 };
var viewKeys = new Map();
var saying = 0;
function say(text) {
  clearTimeout(saying);
  said.value = "";
  saying = window.setTimeout(() => {
    said.value = text;
    saying = window.setTimeout(() => said.value = "", 4e3);
  }, 50);
}
async function copy(text, what) {
  const isCopied = navigator.clipboard ? await navigator.clipboard.writeText(text).then(() => true, () => copyField(text)) : copyField(text);
  say(isCopied ? `${what} copied` : "the browser does not allow copying");
}
function copyField(text) {
  const before2 = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.setAttribute("aria-hidden", "true");
  field.style.position = "fixed";
  field.style.opacity = "0";
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  before2?.focus({ preventScroll: true });
  return isCopied;
}
var KEYS = [
  { keys: "g n", about: "Now" },
  { keys: "g m", about: "Map" },
  { keys: "g f", about: "Flows" },
  { keys: "g p", about: "Path of the last flow" },
  { keys: "g q", about: "Queues" },
  { keys: "g e", about: "Events" },
  { keys: "g r", about: "Reports" },
  { keys: "g s", about: "Query" },
  { keys: "/", about: "go to the filter" },
  { keys: "j k", about: "next and previous row" },
  { keys: "Enter", about: "open the row" },
  { keys: ".", about: "freeze or go live" },
  { keys: "[ ]", about: "one span back, forward" },
  { keys: "w s", about: "zoom in, out" },
  { keys: "v", about: "on a packet's path: compare with another packet" },
  { keys: "c", about: "copy the view as text" },
  { keys: "y", about: "copy the address, time frozen" },
  { keys: "t", about: "light or dark theme" },
  { keys: "z", about: "UTC or local time" },
  { keys: "?", about: "this list" },
  { keys: "Esc", about: "close, or leave the field" }
];
var VIEWS = {
  n: () => "/",
  m: () => "/map",
  f: () => "/flows",
  p: () => lastFlow.value ? "/flow/" + lastFlow.value : void 0,
  q: () => "/queues",
  e: () => "/events",
  r: () => "/reports",
  s: () => "/query"
};
var wentG = 0;
function onKey(event) {
  const target = event.target;
  const isField = target.matches("input, textarea, select, [contenteditable]") || target.shadowRoot !== null;
  if (event.key === "Escape") {
    if (isHelpOpen.value) isHelpOpen.value = false;
    else if (isField) target.blur();
    return;
  }
  if (isField || !areKeysOn.value || isHelpOpen.value || event.metaKey) return;
  if ((event.ctrlKey || event.altKey) && !event.getModifierState("AltGraph")) return;
  const done = act(event.key, event);
  if (done) event.preventDefault();
}
function act(key3, event) {
  if (Date.now() - wentG < 1500) {
    wentG = 0;
    const to = VIEWS[key3]?.();
    if (to) go(href(to));
    return to !== void 0;
  }
  const own = viewKeys.get(key3);
  if (own && !(key3.startsWith("Arrow") && canScroll(event.target))) {
    own();
    return true;
  }
  const actions = {
    g: () => wentG = Date.now(),
    "?": () => isHelpOpen.value = true,
    ".": freeze,
    "[": () => step(-1),
    "]": () => step(1),
    w: () => zoom(2),
    s: () => zoom(0.5),
    t: turnTheme,
    z: () => isUtc.value = !isUtc.value,
    y: () => void copy(frozenAddress(), "address"),
    c: () => copied.text && void copy(copied.text(), "view"),
    "/": () => document.querySelector("[data-filter]")?.focus(),
    j: () => move(1),
    k: () => move(-1)
  };
  const action = actions[key3];
  if (!action || event.shiftKey && !"?/".includes(key3)) return false;
  action();
  return true;
}
function canScroll(target) {
  const around2 = target.closest(".scroll");
  return around2 !== null && around2.scrollWidth > around2.clientWidth;
}
function move(by2) {
  const rows = [...document.querySelectorAll("main [data-row]")];
  const at = rows.indexOf(document.activeElement);
  rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + by2))]?.focus();
}

// src/parts/frame.tsx
function Strip() {
  const now2 = totals.value;
  const since = cutOffSince.value;
  const shown2 = ["accepted", "malformed", "duplicate", "shed"];
  const isLossy = Boolean(now2 && (now2.lost || now2.kernel_dropped));
  return a4("header", { class: since ? "strip cut" : "strip", "aria-label": "Ledger", children: [
    a4("a", { class: "brand", href: href("/"), children: "inband" }),
    since ? a4("strong", { children: [
      "disconnected since ",
      clock(since),
      " ",
      zone()
    ] }) : a4("span", { class: speed() ? "live" : "live none", children: rate(speed()) }),
    a4("a", { class: "balance", href: href("/reports"), title: "Datagrams. Received = accepted + malformed + duplicate + shed.", children: [
      a4("span", { children: [
        count(now2?.received),
        " received"
      ] }),
      shown2.map((name, at) => a4("span", { class: name !== "accepted" && now2?.[name] ? "bad" : "wide", children: [
        at ? "+" : "=",
        " ",
        count(now2?.[name]),
        " ",
        name
      ] }, name)),
      a4("span", { class: isLossy ? "bad" : "", children: [
        count(now2?.lost),
        " lost"
      ] })
    ] })
  ] });
}
function speed() {
  const [latest, earlier] = [history2.at(-1), history2.at(-6) ?? history2[0]];
  if (!latest || !earlier || latest.at === earlier.at) return void 0;
  const more = (latest.totals.accepted ?? 0) - (earlier.totals.accepted ?? 0);
  return more < 0 ? void 0 : more / (latest.at - earlier.at);
}
function Rail({ entries }) {
  const first2 = address.value.path[0] ?? "";
  return a4("nav", { class: "rail", "aria-label": "Views", children: entries.map(({ path, name, key: key3, isHere }) => a4("a", { href: href(path), "aria-current": isHere(first2) ? "page" : void 0, title: `g ${key3}`, children: [
    a4("kbd", { "aria-hidden": "true", children: key3 }),
    name
  ] }, path)) });
}
function TimeBar() {
  tick.value;
  const { isLive, from, to, span } = range();
  const isOther = !SPANS.some((name) => parseSpan(name) === span);
  return a4("div", { class: "time", role: "region", "aria-label": "Time", children: [
    a4("button", { onClick: () => step(-1), "aria-label": "One span back", title: "[", children: "◀" }),
    a4("select", { "aria-label": "Span", value: writeSpan(span), onChange: (event) => show(parseSpan(event.currentTarget.value)), children: [
      isOther && a4("option", { children: writeSpan(span) }),
      SPANS.map((name) => a4("option", { children: name }, name))
    ] }),
    a4("button", { onClick: () => step(1), "aria-label": "One span forward", title: "]", "aria-disabled": isLatest(), children: "▶" }),
    a4("button", { onClick: freeze, "aria-pressed": !isLive, title: ".: freeze or go live", children: isLive ? "Freeze" : "Go live" }),
    a4("span", { class: isLive ? "mode" : "mode frozen", children: isLive ? "live" : "frozen" }),
    a4("span", { class: "interval", children: [
      clock(from),
      " to ",
      clock(to)
    ] }),
    a4("button", { onClick: () => isUtc.value = !isUtc.value, title: "z: UTC or local time", children: zone() }),
    a4("button", { onClick: turnTheme, title: "t: light or dark theme", children: theme.value === "system" ? "Theme" : theme.value === "dark" ? "Dark" : "Light" }),
    a4("button", { onClick: () => isHelpOpen.value = true, "aria-haspopup": "dialog", title: "?: all keys", children: "Keys" })
  ] });
}
function Dialog({ name, close, children }) {
  const dialog = T2(null);
  F2(() => {
    const before2 = document.activeElement;
    const shown2 = dialog.current;
    shown2?.showModal();
    return () => {
      shown2?.close();
      before2?.focus?.();
    };
  }, []);
  return a4("dialog", { ref: dialog, "aria-label": name, onClose: close, children: [
    a4("h2", { children: name }),
    children
  ] });
}
function Help() {
  if (!isHelpOpen.value) return null;
  return a4(Dialog, { name: "Keys", close: () => isHelpOpen.value = false, children: [
    a4("dl", { class: "keys", children: KEYS.map(({ keys, about }) => a4("div", { children: [
      a4("dt", { children: keys.split(" ").map((key3) => a4("kbd", { children: key3 }, key3)) }),
      a4("dd", { children: about })
    ] }, keys)) }),
    a4("label", { children: [
      a4("input", { type: "checkbox", checked: areKeysOn.value, onChange: (event) => areKeysOn.value = event.currentTarget.checked }),
      " ",
      "single-letter shortcuts"
    ] }),
    a4("form", { method: "dialog", children: a4("button", { children: "Close" }) })
  ] });
}
function TokenWanted() {
  const field = T2(null);
  if (!isTokenWanted.value) return null;
  return a4(
    "form",
    {
      class: "token",
      onSubmit: (event) => {
        event.preventDefault();
        giveToken(field.current?.value.trim() ?? "");
        set({}, true);
      },
      children: [
        a4("label", { for: "token", children: "The collector requires a token. It is kept until this tab closes." }),
        a4("input", { id: "token", ref: field, type: "password", autocomplete: "off", required: true }),
        a4("button", { children: "Use token" })
      ]
    }
  );
}
function Said() {
  return a4("div", { class: "said", role: "status", "aria-live": "polite", children: said.value });
}

// src/ask.ts
var AWAY_PAUSE = 3e3;
function useAsk(key3, question, every, news) {
  const [state, setState] = d2({ key: "" });
  const [isSlow, setSlow] = d2(false);
  const [round2, setRound] = d2(0);
  const latest = T2(question);
  latest.current = question;
  const hear2 = T2(() => {
  });
  const given = token.value;
  A2(() => {
    const gone = new AbortController();
    let [timer, slow] = [0, 0];
    let [isAsking, isNew] = [false, false];
    const run = async () => {
      [isAsking, isNew] = [true, false];
      slow = window.setTimeout(() => setSlow(true), 300);
      let pause3 = every;
      try {
        const data = await latest.current(gone.signal);
        if (!gone.signal.aborted) setState({ key: key3, data });
      } catch (error) {
        const refusal = error instanceof Refusal ? error : new Refusal("", String(error), 0);
        if (!gone.signal.aborted) setState((old) => ({ ...old, error: refusal }));
        if (isAway(refusal)) pause3 = Math.min(pause3 ?? AWAY_PAUSE, AWAY_PAUSE);
      }
      clearTimeout(slow);
      if (gone.signal.aborted) return;
      setSlow(false);
      isAsking = false;
      if (isNew) void run();
      else if (pause3) timer = window.setTimeout(run, document.hidden ? pause3 * 5 : pause3);
    };
    hear2.current = () => {
      clearTimeout(timer);
      if (isAsking) isNew = true;
      else void run();
    };
    const comeBack = () => {
      if (every && !document.hidden) hear2.current();
    };
    document.addEventListener("visibilitychange", comeBack);
    void run();
    return () => {
      gone.abort();
      clearTimeout(timer);
      clearTimeout(slow);
      document.removeEventListener("visibilitychange", comeBack);
    };
  }, [key3, round2, every, given]);
  const heard = T2(news);
  A2(() => {
    if (heard.current !== news) hear2.current();
    heard.current = news;
  }, [news]);
  const isStale = state.data !== void 0 && (state.key !== key3 || state.error !== void 0);
  return { data: state.data, error: state.error, isStale, isSlow, again: () => setRound((old) => old + 1) };
}

// src/parts/copy.ts
function useCopy(text) {
  A2(() => {
    copied.text = text;
    return () => {
      if (copied.text === text) copied.text = void 0;
    };
  });
}
function useKeys(keys) {
  A2(() => {
    for (const [key3, action] of Object.entries(keys)) viewKeys.set(key3, action);
    return () => Object.keys(keys).forEach((key3) => viewKeys.delete(key3));
  });
}

// src/parts/table.tsx
function Table({ caption, columns: columns3, rows, keyOf: keyOf2, open, onFocus, isChosen }) {
  const enter = (row) => {
    const to = open?.(row);
    if (to) go(to);
  };
  return a4("div", { class: "scroll", role: "region", "aria-label": caption, tabIndex: 0, children: a4("table", { children: [
    a4("caption", { children: a4("span", { children: caption }) }),
    a4("thead", { children: a4("tr", { children: columns3.map(({ name, isNumber: isNumber2 }) => a4("th", { scope: "col", class: isNumber2 ? "number" : void 0, children: name }, name)) }) }),
    a4("tbody", { children: rows.map((row, at) => a4(
      "tr",
      {
        "data-row": open || onFocus ? "" : void 0,
        tabIndex: open || onFocus ? 0 : void 0,
        "aria-selected": isChosen ? isChosen(row) : void 0,
        class: isChosen?.(row) ? "chosen" : void 0,
        onFocus: () => onFocus?.(row),
        onClick: () => onFocus?.(row),
        onDblClick: () => enter(row),
        onKeyDown: (event) => event.key === "Enter" && event.target === event.currentTarget && enter(row),
        children: columns3.map(({ name, cell: cell2, isNumber: isNumber2, isLong }) => a4("td", { class: isNumber2 ? "number" : isLong ? "long" : void 0, children: cell2(row) }, name))
      },
      keyOf2?.(row, at) ?? row.id ?? at
    )) })
  ] }) });
}

// src/kinds.ts
var flowText = (flow) => `${protocol(flow.protocol)} ${ends(flow.source, flow.source_port)} > ${ends(flow.destination, flow.destination_port)}`;
var ends = (address2, port2) => port2 ? `${address2.includes(":") ? `[${address2}]` : address2}:${port2}` : address2;
var CHECKS = {
  "report-loss": "kernel drops and shed datagrams in the ledger; the path from node to collector",
  "sequence-reset": "whether the node restarted",
  "sequence-gap": "the links and queues of the flow's path",
  "new-flow": "nothing; silence it where flows come and go",
  "path-change": "links of the old path that are not on the new one",
  loop: "routes of the repeated nodes",
  "path-policy": "the hop named in the violation",
  "latency-change": "nothing by itself; it shows where to look",
  "latency-spike": "the queue of the interface at that time",
  "latency-objective": "latency spikes and congestion of the interface",
  "queue-congestion": "culprits of the same queue",
  microburst: "senders that burst; culprits of the same queue",
  "microburst-storm": "senders that burst; culprits of the same queue",
  culprits: "the named flows",
  drop: "what the drop reason means on that node",
  "silent-loss": "the link, and whether the node behind it reports at all",
  "egress-utilization": "the named flows; the rate of the link",
  "ecmp-imbalance": "the hash of the node; elephants among the flows",
  "negative-link-latency": "time synchronisation of both nodes",
  "clock-drift": "time synchronisation of both nodes",
  "duplicate-node-id": "node IDs of the devices at these addresses",
  "unknown-node": "the list of known nodes, and who sends from that address",
  "report-about-report": "the node's watchlist",
  "history-trouble": "the disk, and whether its directory was moved"
};
var KINDS = Object.keys(CHECKS);
function check(event) {
  const own = event.event === "drop" ? event.detail?.check : "";
  return shown(own || CHECKS[event.event] || "its evidence");
}
var port = (detail, id = detail.node_id) => node(id) + (detail.egress_interface === null || detail.egress_interface === void 0 ? "" : ` interface ${detail.egress_interface}`);
var linkEnds = (link) => `${node(link.from)} and ${node(link.to)}`;
var way = (path) => (path ?? []).map((hop) => node(hop.node_id)).join(" → ") || "an unknown path";
var first = (flows, word) => {
  const [largest] = flows ?? [];
  return largest ? `${permille(largest.share_permille)} ${word} ${flowText(largest.flow)}` : "no flow identified";
};
function sentence(event) {
  const detail = event.detail ?? {};
  const isActive = event.phase === "begin";
  const last = BigInt(event.last);
  const until = cutOffSince.value ?? now();
  const lasted = duration((isActive && until > last ? until : last) - BigInt(event.first));
  const peak = (name, value) => value === UNKNOWN ? "" : `, ${name} up to ${value}`;
  const depth = occupancy(detail.peak_occupancy, event.peak_bytes, event.queue_unit);
  const peaks = peak("latency", duration(detail.peak_latency)) + peak("depth", depth);
  switch (event.event) {
    case "queue-congestion": {
      const again = detail.episodes > 1 ? ` in ${plural(detail.episodes, "episode")}` : "";
      return `${port(detail)} ${isActive ? "is" : "was"} congested for ${lasted}${again}${peaks}`;
    }
    case "path-change":
      return `${flowText(detail.flow)} took another path (${detail.change}): ${way(detail.old)} became ${way(detail.new)}`;
    case "culprits":
      return `${port(detail)}: packets waited ${duration(detail.residence)} (${detail.pattern}), ${first(detail.culprits, "of the bytes ahead of them:")}`;
    case "latency-spike":
      return `${port(detail)} delayed packets by ${duration(detail.latency)}, median ${duration(detail.median)}`;
    case "latency-objective":
      return `${port(detail)}: ${count(detail.over)} of ${plural(detail.reports, "report")} above ${duration(detail.bound)}`;
    case "latency-change":
      return `${port(detail)}: latency of ${flowText(detail.flow)} went from ${duration(detail.old)} to ${duration(detail.new)}`;
    case "microburst":
      return `${port(detail)}: a burst${detail.duration ? " of " + duration(detail.duration) : ""}${peaks}`;
    case "microburst-storm":
      return `${port(detail)}: ${plural(detail.bursts, "microburst")} within a second`;
    case "drop": {
      const dropped = event.count > detail.packets ? `at least ${plural(event.count, "packet")}` : `${plural(detail.packets, "packet")} of ${plural(detail.flow_count, "flow")}`;
      return `${port(detail)} dropped ${dropped}: ${shown(detail.reason_name) || "reason unknown"} (${detail.class})`;
    }
    case "silent-loss":
      return `${node(detail.from)} → ${node(detail.to)}: ${plural(detail.flows?.length ?? 0, "flow")} not seen past the link for ${duration(detail.silent_for)} (possible silent loss)`;
    case "report-loss":
      return `${detail.lost ? `${count(detail.lost)} of ${plural(detail.lost + detail.accepted, "report")}` : "reports"} from ${node(detail.node_id)} lost`;
    case "sequence-reset":
      return `${node(detail.node_id)} restarted its report sequence: ${count(detail.sequence)} instead of ${count(detail.expected)}`;
    case "sequence-gap":
      return `${plural(detail.lost, "packet")} of ${flowText(detail.flow)} missing`;
    case "new-flow":
      return `${flowText(detail.flow)} is new, path ${way(detail.path)}`;
    case "loop":
      return `${flowText(detail.flow)} passed ${node(detail.node_id)} twice: ${way(detail.path)}`;
    case "path-policy":
      return `${flowText(detail.flow)} violates the rule ${shown(detail.rule)}: ${way(detail.path)}`;
    case "egress-utilization":
      return `${port(detail)} is ${permille(detail.utilization_permille)} utilised, ${first(detail.flows, "by")}`;
    case "ecmp-imbalance":
      return `${node(detail.node_id)} uses ${plural(detail.links?.length ?? 0, "parallel link")} unevenly: the busiest carries ${(detail.highest_to_mean_permille / 1e3).toFixed(2)} times the mean`;
    case "negative-link-latency":
      return `Clocks of ${linkEnds(detail.link)} disagree by ${duration(Math.abs(detail.lowest_ns))} or more: packets arrive before they leave`;
    case "clock-drift":
      return `Clocks of ${linkEnds(detail.link)} drift apart by ${duration(Math.abs(detail.ns_per_second))} per second`;
    case "history-trouble":
      return `History is not being written: ${shown(detail.why)}`;
    default:
      return `${event.event}: ${shown(event.title ?? event.key)}`;
  }
}
function queueOf(event) {
  const { node_id, egress_interface, queue_id } = event.detail ?? {};
  const isPort = node_id !== void 0 && egress_interface !== void 0;
  const kinds = ["queue-congestion", "culprits", "latency-spike", "latency-objective", "microburst", "microburst-storm", "egress-utilization"];
  return isPort && kinds.includes(event.event) ? queuePath(node_id, egress_interface, queue_id) : void 0;
}
var queuePath = (node2, port2, queue) => [`/queue/${node2}/${port2 ?? "-"}`, ...queue === void 0 ? [] : [queue ?? "-"]].join("/");
function flowsOf(event) {
  const { flow, flows, culprits, victims } = event.detail ?? {};
  const shares = (list, role) => list.map((one) => one.flow ? { flow: one.flow, role, share: one.share_permille, bytes: one.bytes } : { flow: one, role });
  return [
    ...flow ? [{ flow, role: "flow" }] : [],
    ...shares(culprits ?? [], "culprit"),
    ...shares(victims ?? [], "victim"),
    ...shares(Array.isArray(flows) ? flows : [], "flow")
  ];
}
function incidentOf(event) {
  const { node_id, egress_interface, flow } = event.detail ?? {};
  if (node_id !== void 0 && egress_interface !== void 0) return `${node_id}/${egress_interface}`;
  return flow ? flowText(flow) : event.key;
}

// src/parts/words.tsx
var MARKS = { critical: "⬣", warning: "▲", info: "●", ok: "✓" };
function Severity({ of }) {
  return a4("span", { class: `severity ${of}`, children: [
    a4("span", { "aria-hidden": "true", children: MARKS[of] ?? "●" }),
    " ",
    of
  ] });
}
function Time({ at }) {
  if (at === null || at === void 0) return a4("span", { children: UNKNOWN });
  const time = BigInt(at);
  const { isLive } = range();
  if (isLive) void pulse.value;
  return a4("time", { title: exact(time), dateTime: new Date(Number(time / 1000000n)).toISOString(), children: [
    millis(time),
    isLive && a4("span", { class: "muted", children: [
      " (",
      ago(time, now()),
      ")"
    ] })
  ] });
}
function FlowLink({ flow, id, params }) {
  return a4("a", { class: "mono", href: href("/flow/" + (id ?? flowAddress(flow)), params), children: flowText(flow) });
}
var LastDay = ({ of }) => a4("a", { href: href(of, { live: "1d" }), children: "Show the last day" });
function OnlyPresent({ what }) {
  return range().isLive ? null : a4("p", { class: "notice", children: [
    what,
    " of the present, not of the chosen time."
  ] });
}
function Path({ hops }) {
  if (!hops?.length) return a4("span", { title: "no report of the whole path", children: UNKNOWN });
  return a4("span", { class: "path", children: hops.map((hop, at) => a4("span", { children: [
    at > 0 && a4("span", { "aria-hidden": "true", children: " → " }),
    a4("a", { href: href("/map", { sel: String(hop.node_id) }), children: node(hop.node_id) })
  ] }, at)) });
}
function Facts({ facts }) {
  return a4("dl", { class: "facts", children: facts.map(([name, value]) => a4("div", { children: [
    a4("dt", { children: name }),
    a4("dd", { children: value })
  ] }, name)) });
}

// src/parts/focus.ts
function useFocus(state) {
  const place2 = T2(null);
  const before2 = T2(state);
  const wasHeld = document.activeElement !== document.body;
  F2(() => {
    const isLost = wasHeld && document.activeElement === document.body;
    if (before2.current !== state && (state === "open" || isLost)) place2.current?.focus();
    before2.current = state;
  }, [state]);
  return place2;
}

// src/parts/silence.tsx
var HOUR = 60n * MINUTE;
var ENDS = [["1 hour", HOUR], ["8 hours", 8n * HOUR], ["1 day", 24n * HOUR], ["7 days", 168n * HOUR], ["unlimited time", void 0]];
var MOST_PAST = 4096;
var post = (silence2) => ask("silences", { method: "POST", body: JSON.stringify(silence2, (_5, value) => typeof value === "bigint" ? Number(value) : value), headers: { "content-type": "application/json" } });
function Silence({ event, done }) {
  const [isOpen, setOpen] = d2(false);
  const [said2, setSaid] = d2("");
  const focus = useFocus(said2 ? "done" : isOpen ? "open" : "closed");
  useKeys({ s: () => setOpen(true) });
  if (said2) return a4("p", { class: "notice", role: "status", ref: focus, tabIndex: -1, children: said2 });
  if (!isOpen) return a4("button", { ref: focus, onClick: () => setOpen(true), title: "s", children: "Silence" });
  const close = () => setOpen(false);
  return a4(Form, { event, first: focus, close, done: (text) => (setSaid(text), done()) });
}
function Form({ event, first: first2, close, done }) {
  const [key3, setKey] = d2(event.key);
  const [isKind, setIsKind] = d2(true);
  const [end, setEnd] = d2(0);
  const [comment, setComment] = d2("");
  const [problem, setProblem] = d2("");
  const day = useAsk(`silence ${event.id}`, (signal) => ask(`events?limit=10000&from=${now() - 24n * HOUR}&to=${now()}`, { signal }));
  const isHidden = (other) => (!isKind || other.event === event.event) && other.key.includes(key3);
  const events = day.data ?? [];
  const isCut = events.filter(({ phase }) => phase !== "begin").length >= MOST_PAST;
  const all = plural(events.length, "event");
  const hidden = `Would have hidden ${count(events.filter(isHidden).length)} of `;
  const preview = hidden + (isCut ? `the latest ${all}.` : `${all} of the last day.`);
  const send = async (submitted) => {
    submitted.preventDefault();
    const length = ENDS[end][1];
    const until = length === void 0 ? {} : { until: (now() + length) / 1000000000n * 1000000000n };
    try {
      await post({ ...isKind ? { kind: event.event } : {}, key: key3, ...until, ...comment ? { comment } : {} });
      done(`Silenced for ${ENDS[end][0]}. Remove it in the list under Events.`);
    } catch (error) {
      setProblem(error.message);
    }
  };
  return a4("form", { class: "silence", "aria-label": "Silence", onSubmit: send, children: [
    a4("label", { children: [
      a4(
        "input",
        {
          ref: first2,
          type: "checkbox",
          checked: isKind,
          onChange: (changed) => setIsKind(changed.currentTarget.checked)
        }
      ),
      " ",
      "only kind ",
      event.event
    ] }),
    a4("label", { children: [
      "whose key contains ",
      a4("input", { value: key3, onInput: (typed) => setKey(typed.currentTarget.value) })
    ] }),
    a4("label", { children: [
      "for",
      " ",
      a4("select", { value: String(end), onChange: (changed) => setEnd(Number(changed.currentTarget.value)), children: ENDS.map(([name], at) => a4("option", { value: String(at), children: name }, name)) })
    ] }),
    a4("label", { children: [
      "reason ",
      a4("input", { value: comment, onInput: (typed) => setComment(typed.currentTarget.value) })
    ] }),
    a4("p", { role: "status", children: day.data ? preview : "Counting affected events …" }),
    a4("span", { children: [
      a4("button", { children: "Silence" }),
      " ",
      a4("button", { type: "button", onClick: close, children: "Cancel" })
    ] }),
    problem && a4("span", { class: "bad", role: "alert", children: shown(problem) })
  ] });
}
function Silences() {
  const asked = useAsk("silences", (signal) => ask("silences", { signal }), 1e4);
  const [problem, setProblem] = d2("");
  const remove = async (number) => {
    try {
      await ask(`silences/${number}`, { method: "DELETE" });
      setProblem("");
    } catch (error) {
      setProblem(error.message);
    }
    asked.again();
  };
  const caption = "Active silences (no notifications for these events)";
  const keyOf2 = ({ number }) => String(number);
  return a4(Answer, { asked, children: (all) => a4($, { children: [
    problem && a4("p", { class: "bad", role: "alert", children: shown(problem) }),
    all.length > 0 && a4(Table, { caption, rows: all, keyOf: keyOf2, columns: [
      { name: "Kind", cell: ({ silence: silence2 }) => shown(silence2.kind ?? "all kinds") },
      { name: "Key contains", cell: ({ silence: silence2 }) => shown(silence2.key ?? "any text") },
      { name: "Until", cell: ({ silence: silence2 }) => silence2.until ? exact(BigInt(silence2.until)) : "removed" },
      { name: "Reason", cell: ({ silence: silence2 }) => shown(silence2.comment ?? "none") },
      { name: "Remove", cell: ({ number, silence: silence2 }) => a4("button", { onClick: () => void remove(number), "aria-label": `Remove the silence for ${shown(silence2.kind ?? "all kinds")}`, children: "Remove" }) }
    ] })
  ] }) });
}

// src/views/events.tsx
var MOST = 300;
function Events() {
  const [when, every] = timeAsked();
  const [kind, severity] = [param("kind"), param("severity")];
  const chosen = `${KINDS.includes(kind) ? `&kind=${kind}` : ""}${["warning", "critical"].includes(severity) ? `&severity=${severity}` : ""}`;
  const events = useAsk(`events ${when} ${chosen}`, (signal) => ask(`events?limit=${MOST + 1}&from=${range().from}&to=${range().to}${chosen}`, { signal }), every, every && eventsHeard.value);
  return a4($, { children: [
    a4("h1", { children: "Events" }),
    a4(Tabs, {}),
    a4("div", { class: "choices", children: [
      a4("label", { children: [
        "Kind",
        " ",
        a4("select", { "data-filter": true, value: kind, onChange: (event) => set({ kind: event.currentTarget.value || void 0 }), children: [
          a4("option", { value: "", children: "all kinds" }),
          KINDS.map((name) => a4("option", { children: name }, name))
        ] })
      ] }),
      a4("label", { children: [
        "Severity",
        " ",
        a4("select", { value: severity, onChange: (event) => set({ severity: event.currentTarget.value || void 0 }), children: [
          a4("option", { value: "", children: "all" }),
          a4("option", { value: "warning", children: "warning and critical" }),
          a4("option", { value: "critical", children: "critical" })
        ] })
      ] })
    ] }),
    a4(Silences, {}),
    a4(Answer, { asked: events, children: (all) => a4(List, { all, isFiltered: chosen !== "" }) })
  ] });
}
function Tabs() {
  const here = address.value.path[0];
  return a4("nav", { "aria-label": "Events and drops", class: "choices", children: [["/events", "Events"], ["/drops", "Drops"]].map(([path, name]) => a4("a", { href: href(path), "aria-current": "/" + here === path ? "page" : void 0, children: name }, path)) });
}
function List({ all, isFiltered }) {
  useCopy(() => all.map((event) => `${exact(BigInt(event.first))}  ${event.severity}  ${sentence(event)}`).join("\n"));
  if (!all.length) {
    return a4(Empty, { children: [
      isFiltered ? "No events of this kind and severity in this time range. " : "No events in this time range. ",
      isFiltered ? a4("button", { onClick: () => set({ kind: void 0, severity: void 0 }), children: "Show all kinds" }) : a4(LastDay, { of: "/events" })
    ] });
  }
  const active = all.filter((event) => event.phase === "begin").length;
  const sorted = [...all].sort((a5, b3) => Number(b3.phase === "begin") - Number(a5.phase === "begin") || (BigInt(b3.last) > BigInt(a5.last) ? 1 : -1));
  const caption = all.length > MOST ? `First ${MOST} events; choose a kind or a shorter time range to see the others` : `${plural(all.length, "event")}, ${count(active)} active`;
  return a4(Table, { caption, rows: sorted.slice(0, MOST), open: eventAddress, columns: [
    { name: "Severity", cell: (event) => a4(Severity, { of: event.severity }) },
    { name: "Kind", cell: (event) => a4("span", { class: "path", children: event.event }) },
    { name: "What happened", isLong: true, cell: (event) => a4("a", { href: eventAddress(event), children: sentence(event) }) },
    { name: "First", cell: (event) => a4(Time, { at: event.first }) },
    { name: "Last", cell: (event) => event.phase === "begin" ? a4($, { children: [
      "active, ",
      a4(Time, { at: event.last })
    ] }) : a4(Time, { at: event.last }) },
    { name: "Evidence", isNumber: true, cell: (event) => plural(event.count, "report") },
    { name: "Acknowledged by", cell: (event) => event.acknowledged ? shown(event.acknowledged.by) : event.silenced ? "(silenced)" : UNKNOWN }
  ] });
}
var eventAddress = (event) => href("/event/" + event.id, around(BigInt(event.first), 20n * SECOND));

// src/views/drops.tsx
function Drops() {
  const [when, every] = timeAsked();
  const asked = useAsk("drops " + when, (signal) => ask(`events?kind=drop&limit=4000&from=${range().from}&to=${range().to}`, { signal }), every, every && eventsHeard.value);
  return a4($, { children: [
    a4("h1", { children: "Drops" }),
    a4(Tabs, {}),
    a4(Answer, { asked, children: (events) => a4(List2, { groups: groups(events) }) })
  ] });
}
function groups(events) {
  const found2 = new Map();
  for (const event of events) {
    const { reason_name, class: kind, check: check2, node_id, egress_interface, packets, reports, flows } = event.detail;
    const key3 = [node_id, egress_interface, reason_name, kind].join(" ");
    const group = found2.get(key3) ?? { reason: reason_name, class: kind, check: check2, node: node_id, port: egress_interface, packets: 0, reports: 0, flows, last: 0n, events: [] };
    group.packets += Number(packets);
    group.reports += Number(reports);
    group.last = BigInt(event.last) > group.last ? BigInt(event.last) : group.last;
    group.events.push(event);
    found2.set(key3, group);
  }
  return [...found2.values()].sort((a5, b3) => b3.packets - a5.packets);
}
function List2({ groups: groups3 }) {
  useCopy(() => groups3.map((group) => `${count(group.packets)}  ${shown(group.reason)}  ${node(group.node)} ${group.port ?? ""}  check: ${shown(group.check)}`).join("\n"));
  if (!groups3.length) {
    return a4(Empty, { children: [
      "No drops reported in this time range. Nodes report drops only if asked to.",
      " ",
      a4(LastDay, { of: "/drops" })
    ] });
  }
  const caption = `${plural(groups3.length, "cause")}, most packets first. Nodes report a flow's drops at intervals, so counts are minimums.`;
  const keyOf2 = (group) => [group.node, group.port, group.reason, group.class].join(" ");
  const to = (group) => href("/event/" + group.events[0].id);
  return a4(Table, { caption, rows: groups3, keyOf: keyOf2, open: to, columns: [
    { name: "Reason", cell: (group) => a4("a", { href: to(group), children: shown(group.reason) || "unknown" }) },
    { name: "Class", cell: (group) => group.class },
    { name: "Where", cell: (group) => a4("a", { href: href("/map", { sel: String(group.node) }), children: [
      node(group.node),
      " ",
      group.port ?? UNKNOWN
    ] }) },
    { name: "Packets, at least", isNumber: true, cell: (group) => count(group.packets) },
    { name: "Reports", isNumber: true, cell: (group) => count(group.reports) },
    { name: "Check", isLong: true, cell: (group) => shown(group.check) },
    { name: "Example flow", cell: (group) => group.flows[0] ? a4(FlowLink, { flow: group.flows[0] }) : UNKNOWN },
    { name: "Last", cell: (group) => a4(Time, { at: group.last }) }
  ] });
}

// src/parts/bytes.tsx
var MAX_SHOWN = 4096;
function fieldsOf({ fields }) {
  const all = (name) => fields[name] ?? [];
  return all("name").map((name, at) => ({
    depth: Number(all("depth")[at]),
    name,
    value: all("value")[at],
    meaning: all("meaning")[at],
    first: Number(all("at")[at]) * 8 + Number(all("bit")[at]),
    bits: Number(all("bits")[at]),
    requirement: all("requirement")[at]
  }));
}
var bytesOf2 = ({ first: first2, bits }) => [Math.floor(first2 / 8), Math.ceil((first2 + bits) / 8)];
function place(field) {
  const [from, end] = bytesOf2(field);
  if (field.bits === 0) return String(from);
  if (field.first % 8 === 0 && field.bits % 8 === 0) return end - from === 1 ? String(from) : `${from} to ${end - 1}`;
  const bit = field.first % 8;
  return `${from}, ${field.bits === 1 ? `bit ${bit}` : `bits ${bit} to ${bit + field.bits - 1}`}`;
}
var line = ({ depth, name, value, meaning }) => `${"  ".repeat(depth)}${name}${value === null ? "" : " " + value}${meaning === null ? "" : ` (${shown(meaning, 600)})`}`;
function Bytes({ decoded, length }) {
  const fields = fieldsOf(decoded);
  const [chosen, choose] = d2(-1);
  A2(() => choose(-1), [decoded.hex]);
  const kept2 = decoded.hex.length / 2;
  const { error } = decoded;
  useCopy(() => [...(chosen < 0 ? fields : [fields[chosen]]).map(line), ...error ? [`byte ${error.at}: ${error.error}`] : [], decoded.hex].join("\n"));
  const focus = (at) => document.querySelectorAll(".bytes tr[data-row]")[at]?.focus();
  const onKey2 = (event) => {
    const by2 = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (!by2) return;
    event.preventDefault();
    focus(Math.max(0, Math.min(fields.length - 1, chosen + by2)));
  };
  const find2 = (byte) => focus(fields.findLastIndex((field) => bytesOf2(field)[0] <= byte && byte < bytesOf2(field)[1]));
  const more = decoded.left_out ? `, ${count(decoded.left_out)} more not shown` : "";
  const caption = `${plural(fields.length, "field")}${more}; arrow keys move between them`;
  const onFocus = (field) => choose(fields.indexOf(field));
  const isChosen = (field) => fields[chosen] === field;
  return a4($, { children: [
    error && a4("p", { class: "notice", role: "note", children: [
      a4("span", { class: "bad", children: [
        "Byte ",
        count(error.at),
        ": ",
        shown(error.error, 600),
        "."
      ] }),
      " ",
      fields.length ? "The fields before it are below." : "No field before it could be read."
    ] }),
    length !== void 0 && length > kept2 && a4("p", { class: "muted", children: [
      "Only the first ",
      count(kept2),
      " of ",
      plural(length, "byte"),
      " are kept as evidence."
    ] }),
    a4("div", { class: "bytes", onKeyDown: onKey2, children: [
      a4(Table, { caption, rows: fields, onFocus, isChosen, columns: [
        { name: "Field", cell: (field) => a4("span", { class: `deep${Math.min(field.depth, 4)}`, children: shown(field.name) }) },
        { name: "Value", cell: (field) => a4("span", { class: "mono", children: field.value ?? (field.depth ? UNKNOWN : "") }) },
        { name: "Meaning", cell: (field) => field.meaning === null ? "" : shown(field.meaning, 600) },
        { name: "Byte", cell: place },
        { name: "Requirement", cell: (field) => field.requirement ? a4("code", { children: field.requirement }) : "" }
      ] }),
      a4(Grid, { hex: decoded.hex, chosen: fields[chosen], fault: error?.at, find: find2 })
    ] })
  ] });
}
function Grid({ hex, chosen, fault, find: find2 }) {
  const [from, end] = chosen ? bytesOf2(chosen) : [0, 0];
  const size = Math.min(hex.length / 2, MAX_SHOWN);
  const rows = Array.from({ length: Math.ceil(size / 16) }, (_5, row) => row * 16);
  const onClick = (event) => {
    const byte = event.target.dataset?.byte;
    if (byte) find2(Number(byte));
  };
  return a4("div", { class: "scroll hex", role: "region", "aria-label": `${plural(hex.length / 2, "byte")} in hexadecimal`, tabIndex: 0, onClick, children: [
    rows.map((start) => a4("div", { children: [
      a4("span", { class: "muted", children: start.toString(16).padStart(4, "0") }),
      Array.from({ length: Math.min(16, size - start) }, (_5, at) => start + at).map((at) => a4("span", { "data-byte": at, class: at >= from && at < end ? "on" : at === fault ? "fault" : void 0, children: " " + hex.slice(2 * at, 2 * at + 2) }, at))
    ] }, start)),
    hex.length / 2 > size && a4("div", { class: "muted", children: [
      "and ",
      plural(hex.length / 2 - size, "more byte")
    ] })
  ] });
}

// src/views/report.tsx
var isNumber = (text) => /^\d{1,10}$/.test(text);
var isMissing = (error) => [400, 404].includes(error.status);
function Report({ node: node2, hw, sequence }) {
  const at = /^\d{1,19}$/.test(param("at")) ? BigInt(param("at")) : void 0;
  const when = at ? `AND time >= ${at - SECOND} AND time <= ${at + SECOND}` : "";
  const isNamed = [node2, hw, sequence].every(isNumber);
  const text = `SELECT * FROM observations WHERE reporter = ${node2} AND hw_id = ${hw} AND sequence = ${sequence} ${when} ORDER BY time, report_index, hop_index LIMIT 500`;
  const key3 = `${node2} ${hw} ${sequence} ${when}`;
  const kept2 = useAsk("report " + key3, (signal) => {
    const asked = ask(`reports/${encodeURIComponent(node2)}/${encodeURIComponent(hw)}/${encodeURIComponent(sequence)}${at ? "?at=" + at : ""}`, { signal });
    return asked.catch((error) => isMissing(error) ? null : Promise.reject(error));
  });
  const hops = useAsk("hops of " + key3, (signal) => isNamed ? sql(text, signal).catch((error) => error.status === 503 ? [] : Promise.reject(error)) : Promise.resolve([]));
  return a4($, { children: [
    a4("h1", { children: [
      "Report ",
      shown(sequence),
      " of ",
      isNumber(node2) ? node(Number(node2)) : shown(node2),
      ", hw_id ",
      shown(hw)
    ] }),
    a4(Answer, { asked: kept2, children: (report) => report ? a4(Kept, { report }) : a4("p", { class: "notice", children: "The raw bytes of this report were not kept: it is neither recent nor evidence of an event." }) }),
    a4(Answer, { asked: hops, children: (rows) => rows.length ? a4(Hops, { rows }) : a4(None, { at }) })
  ] });
}
function Kept({ report }) {
  const { received_at, source, session, length, recent: recent2, events, decoded } = report;
  return a4($, { children: [
    a4(Facts, { facts: [
      ["Arrived", a4(Time, { at: BigInt(received_at) })],
      ["From", a4("span", { class: "mono", children: source })],
      ["To", a4("span", { class: "mono", children: session })],
      ["Length", bytes(length)],
      ["Kept as", recent2 ? "recent datagram" : "evidence"],
      ["Evidence of", events.length ? events.map((id) => a4("a", { href: href("/event/" + id), children: [
        id,
        " "
      ] }, id)) : "no stored event"]
    ] }),
    a4(Bytes, { decoded, length: Number(length) })
  ] });
}
var None = ({ at }) => a4(Empty, { children: [
  "The history has no hops of this report",
  at ? ` within a second of ${exact(at)}` : "",
  ". It may have expired, not be written yet, or contain no hop.",
  " ",
  a4("a", { href: href("/reports"), children: "Report streams" })
] });
var TIMES = ["time", "ingress_timestamp", "egress_timestamp"];
function Hops({ rows }) {
  const fields = Object.keys(rows[0]);
  const write2 = (field, value) => {
    if (value === null) return UNKNOWN;
    if (TIMES.includes(field)) return exact(BigInt(value));
    return typeof value === "string" ? shown(value) : String(value);
  };
  const id = rows[0].flow_id;
  return a4($, { children: [
    a4("h2", { children: "In the history" }),
    a4("p", { children: [
      plural(new Set(rows.map((row) => row.report_index)).size, "individual report"),
      ", ",
      plural(rows.length, "hop"),
      ".",
      " ",
      id !== null && a4("a", { href: href("/flow/" + id, { at: String(rows[0].time), span: "2s" }), children: "The packet's path" }),
      " ",
      a4("span", { class: "muted", children: [
        UNKNOWN,
        " means that the value was not available at the node, or not requested."
      ] })
    ] }),
    a4(Table, { caption: "Fields, one column per hop", rows: fields, columns: [
      { name: "Field", cell: (field) => a4("code", { children: field }) },
      ...rows.map((row, at) => ({ name: `${node(row.node_id)} (${row.report_index}.${row.hop_index})${rows.findIndex((other) => other.node_id === row.node_id && other.hop_index === row.hop_index && other.report_index === row.report_index) === at ? "" : ` ${at}`}`, cell: (field) => write2(field, row[field]) }))
    ] })
  ] });
}
var reportAddress = (report) => href(`/report/${report.node_id}/${report.hw_id}/${report.sequence}`, { at: String(report.received_at), span: "2s" });

// src/views/event.tsx
var find = (id, signal) => ask("events/" + encodeURIComponent(id), { signal }).catch((error) => [400, 404].includes(error.status) ? null : Promise.reject(error));
function Event({ id }) {
  const asked = useAsk("event " + id, (signal) => find(id, signal), 1e4);
  return a4(Answer, { asked, children: (event) => event ? a4(Known, { event, again: asked.again }) : a4(Empty, { children: [
    "No event with ID “",
    shown(id, 64),
    "”; it may have expired. ",
    a4("a", { href: href("/events", { live: "1d" }), children: "Events of the last day" })
  ] }) });
}
function Known({ event, again }) {
  const { first: first2, last, count: rests, confidence, phase, end_reason } = event;
  useCopy(() => [sentence(event), `from ${exact(BigInt(first2))}`, `to   ${exact(BigInt(last))}`, `check: ${check(event)}`, location.href].join("\n"));
  return a4($, { children: [
    a4("h1", { children: [
      a4(Severity, { of: event.severity }),
      " ",
      sentence(event)
    ] }),
    a4("p", { class: "check", children: [
      a4("strong", { children: "Check" }),
      " ",
      check(event)
    ] }),
    a4(Leads, { event }),
    a4(Acknowledge, { event, again }),
    a4(Silence, { event, done: again }),
    a4(Facts, { facts: [
      ["Kind", event.event],
      ["Subject", shown(event.title ?? event.key)],
      ["First", a4(Time, { at: first2 })],
      ["Last", a4(Time, { at: last })],
      ["State", phase === "begin" ? "active" : phase === "once" ? "one-time" : `ended: ${end_reason ?? UNKNOWN}`],
      ["Evidence", `${plural(rests, "report")}; ${confidence}`],
      ...numbers(event)
    ] }),
    a4(Flows, { event }),
    a4(Evidence, { event }),
    a4(Related, { event })
  ] });
}
function Leads({ event }) {
  const queue = queueOf(event);
  const { from, to, egress_interface, ingress_interface } = event.detail ?? {};
  const link = event.event === "silent-loss" ? `${from}.${egress_interface ?? "*"}-${to}.${ingress_interface ?? "*"}` : void 0;
  if (!queue && !link) return null;
  const span = BigInt(event.last) - BigInt(event.first);
  const time = event.phase === "begin" ? { live: "1m", at: void 0, span: void 0 } : around(BigInt(event.first) + span / 2n, span < SECOND ? SECOND : span > 30n * SECOND ? 60n * SECOND : 2n * span / 1000000n * 1000000n);
  return a4("p", { children: [
    queue && a4("a", { href: href(queue, time), children: "The queue at that time" }),
    " ",
    link && a4("a", { href: href("/map", { sel: link }), children: "The link on the map" })
  ] });
}
var TIMES2 = /latency|residence|median|deviation|duration|silent_for|^old$|^new$|bound|window/;
function numbers(event) {
  const skipped = /^(node_id|egress_interface|ingress_interface|queue_id|phase|check|peak_occupancy)$/;
  const facts = Object.entries(event.detail ?? {}).filter(([name, value]) => !skipped.test(name) && (typeof value !== "object" || value === null)).map(([name, value]) => [title(name), write(name, value)]);
  const peak = event.detail?.peak_occupancy;
  if (peak !== void 0 && peak !== null) facts.push(["Peak occupancy", event.peak_bytes === void 0 ? `${count(peak)} ${event.queue_unit ?? "(unit unknown)"}` : bytes(event.peak_bytes)]);
  return facts;
}
var title = (name) => (name[0].toUpperCase() + name.slice(1)).replaceAll("_", " ").replace(/ permille$/, "");
function write(name, value) {
  if (value === null) return UNKNOWN;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number" && typeof value !== "bigint") return shown(String(value)) || UNKNOWN;
  if (name.endsWith("permille")) return permille(value);
  if (name.endsWith("bytes")) return bytes(value);
  return TIMES2.test(name) ? duration(value) : count(value);
}
function Flows({ event }) {
  const flows = flowsOf(event);
  if (!flows.length) return null;
  const time = around(BigInt(event.last), 10n * SECOND);
  return a4(Table, { caption: "Flows of this event", rows: flows, columns: [
    { name: "Flow", cell: ({ flow }) => a4(FlowLink, { flow, params: time }) },
    { name: "Role", cell: ({ role }) => role },
    { name: "Share", isNumber: true, cell: ({ share }) => permille(share) },
    { name: "Bytes", isNumber: true, cell: ({ bytes: size }) => bytes(size) }
  ] });
}
function Evidence({ event }) {
  return a4($, { children: [
    a4(Table, { caption: "Evidence: a sample of the reports", rows: event.evidence, open: reportAddress, columns: [
      { name: "Report of", cell: (report) => a4("a", { href: reportAddress(report), children: [
        node(report.node_id),
        " ",
        count(report.sequence)
      ] }) },
      { name: "hw_id", isNumber: true, cell: (report) => report.hw_id },
      { name: "Sequence", isNumber: true, cell: (report) => count(report.sequence) },
      { name: "Arrived", cell: (report) => exact(BigInt(report.received_at)) }
    ] }),
    a4("p", { children: a4("a", { href: href("/reports", { event: event.id }), children: "Stored raw reports of this event" }) })
  ] });
}
var MOST_NEAR = 200;
function Related({ event }) {
  const [from, to] = [BigInt(event.first) - 5n * SECOND, BigInt(event.last) + 5n * SECOND];
  const capped = to - from > 10n * MINUTE ? from + 10n * MINUTE : to;
  const question = `events?limit=${MOST_NEAR}&from=${from}&to=${capped}`;
  const every = event.phase === "begin" ? 1e4 : void 0;
  const near = useAsk(`near ${event.id} ${event.first}`, (signal) => ask(question, { signal }), every);
  return a4(Answer, { asked: near, children: (events) => {
    const others = events.filter((other) => other.id !== event.id).sort((a5, b3) => BigInt(a5.first) < BigInt(b3.first) ? -1 : 1);
    if (!others.length) return a4(Empty, { children: "No other events within five seconds." });
    const isCut = events.filter(({ phase }) => phase !== "begin").length >= MOST_NEAR;
    const caption = [
      "Other events at that time, or within five seconds",
      ...capped < to ? ["in its first ten minutes"] : [],
      ...isCut ? [`the latest ${MOST_NEAR}`] : []
    ];
    return a4(Table, { caption: caption.join("; "), rows: others, open: eventAddress, columns: [
      { name: "Offset from start", isNumber: true, cell: (other) => duration(BigInt(other.first) - BigInt(event.first)) },
      { name: "Severity", cell: (other) => a4(Severity, { of: other.severity }) },
      { name: "Kind", cell: (other) => other.event },
      { name: "What happened", isLong: true, cell: (other) => a4("a", { href: eventAddress(other), children: sentence(other) }) }
    ] });
  } });
}
function Acknowledge({ event, again }) {
  const [isOpen, setOpen] = d2(false);
  const [by2, setBy] = d2("");
  const [problem, setProblem] = d2("");
  const focus = useFocus(event.acknowledged ? "done" : isOpen ? "open" : "closed");
  useKeys({ a: () => setOpen(true) });
  if (event.acknowledged) {
    const { by: by3, at, comment } = event.acknowledged;
    return a4("p", { class: "notice", ref: focus, tabIndex: -1, children: [
      "Acknowledged by ",
      shown(by3),
      " at ",
      a4(Time, { at }),
      comment ? `: ${shown(comment)}` : ""
    ] });
  }
  if (!isOpen) return a4("p", { children: a4("button", { ref: focus, onClick: () => setOpen(true), title: "a", children: "Acknowledge" }) });
  const send = async (submitted) => {
    submitted.preventDefault();
    try {
      await ask(`events/${event.id}/acknowledge`, { method: "POST", body: JSON.stringify({ by: by2 }), headers: { "content-type": "application/json" } });
      setOpen(false);
      again();
    } catch (error) {
      setProblem(error.message);
    }
  };
  return a4("form", { onSubmit: send, class: "acknowledge", children: [
    a4("label", { children: [
      "Acknowledged by",
      " ",
      a4("input", { ref: focus, required: true, value: by2, onInput: (typed) => setBy(typed.currentTarget.value) })
    ] }),
    " ",
    a4("button", { children: "Acknowledge" }),
    " ",
    problem && a4("span", { class: "bad", role: "alert", children: shown(problem) })
  ] });
}

// src/beside.ts
function beside(now2, then) {
  const lines = [];
  let [atNow, atThen] = [0, 0];
  for (const [nextNow, nextThen] of [...common(now2, then), [now2.length, then.length]]) {
    const [mine, theirs] = [now2.slice(atNow, nextNow), then.slice(atThen, nextThen)];
    if (mine.length === 1 && theirs.length === 1 && keyOf(mine[0]) === keyOf(theirs[0])) lines.push({ kind: "link", now: mine[0], then: theirs[0] });
    else {
      for (const piece of theirs) lines.push({ kind: piece.kind, now: void 0, then: piece });
      for (const piece of mine) lines.push({ kind: piece.kind, now: piece, then: void 0 });
    }
    if (nextNow < now2.length) lines.push({ kind: "hop", now: now2[nextNow], then: then[nextThen] });
    [atNow, atThen] = [nextNow + 1, nextThen + 1];
  }
  return lines;
}
var keyOf = (piece) => piece.kind === "link" ? linkKey(piece.from.node_id, piece.from.egress_interface, piece.to.node_id, piece.to.ingress_interface) : String(piece.hop.node_id);
function common(now2, then) {
  const isSame = (a5, b3) => a5.kind === "hop" && b3.kind === "hop" && a5.hop.node_id === b3.hop.node_id;
  const longest = now2.map(() => new Array(then.length + 1).fill(0));
  longest.push(new Array(then.length + 1).fill(0));
  for (let a5 = now2.length - 1; a5 >= 0; a5--) {
    for (let b3 = then.length - 1; b3 >= 0; b3--) {
      longest[a5][b3] = isSame(now2[a5], then[b3]) ? longest[a5 + 1][b3 + 1] + 1 : Math.max(longest[a5 + 1][b3], longest[a5][b3 + 1]);
    }
  }
  const pairs = [];
  for (let [a5, b3] = [0, 0]; a5 < now2.length && b3 < then.length; ) {
    if (isSame(now2[a5], then[b3])) pairs.push([a5++, b3++]);
    else if (longest[a5 + 1][b3] >= longest[a5][b3 + 1]) a5++;
    else b3++;
  }
  return pairs;
}

// src/parts/waterfall.tsx
function Waterfall(props) {
  const { way: way2, other } = props;
  const ends2 = way2.pieces.map((piece) => whiskersOf(piece)?.[1] ?? 0);
  const end = Math.max(1, way2.end, other?.end ?? 0);
  const all = Math.max(end, Math.min(2 * end, Math.max(...ends2)));
  const axis = way2.sum === null && all === 1 ? null : all;
  const drawn = { ...props, share: (value) => `${100 * Math.min(all, Math.max(0, value)) / all}%` };
  return a4("div", { class: "scroll", role: "region", "aria-label": "Waterfall", tabIndex: 0, children: [
    a4("table", { class: "waterfall", children: [
      a4("caption", { children: a4("span", { children: [
        "Path of the packet: hops and links in order, on one axis of ",
        duration(axis)
      ] }) }),
      a4("thead", { children: a4("tr", { children: [
        a4("th", { scope: "col", children: "Where" }),
        a4("th", { scope: "col", children: "In › queue › out" }),
        a4("th", { scope: "col", class: "axis", children: [
          a4("span", { children: "0" }),
          a4("span", { children: duration(axis && axis / 2) }),
          a4("span", { children: duration(axis) })
        ] }),
        a4("th", { scope: "col", class: "number", children: "Time" }),
        other && a4("th", { scope: "col", class: "number", children: "Other, dashed" }),
        a4("th", { scope: "col", class: "number", children: "Usual p50, p99" }),
        a4("th", { scope: "col", class: "number", children: "Queue depth" }),
        a4("th", { scope: "col", class: "number", children: "Utilisation" })
      ] }) }),
      a4("tbody", { children: beside(way2.pieces, other?.pieces ?? []).map(
        ({ kind, now: now2, then }, at) => kind === "hop" ? a4(Hop, { now: now2, then, ...drawn }, at) : a4(Link, { now: now2, then, ...drawn }, at)
      ) }),
      other && a4("tfoot", { children: a4("tr", { children: [
        a4("th", { scope: "row", children: "Sum" }),
        a4("td", { colSpan: 2, class: "muted", children: way2.isWhole && other.isWhole ? "" : "known parts only" }),
        a4("td", { class: "number", children: duration(way2.sum) }),
        a4("td", { class: "number", children: duration(other.sum) }),
        a4("td", { colSpan: 3, class: "muted", children: way2.sum !== null && other.sum !== null && change(way2.sum, other.sum) })
      ] }) })
    ] }),
    a4("p", { class: "legend", children: [
      a4("span", { class: "bar base" }),
      " minimum of this hop ",
      a4("span", { class: "bar queued" }),
      " wait above the minimum",
      " ",
      a4("span", { class: "bar whole" }),
      " both, minimum unknown ",
      a4("span", { class: "bar link" }),
      " link",
      " ",
      a4("span", { class: "bar whisker" }),
      " clock uncertainty",
      " ",
      a4("span", { class: "bar unknown" }),
      " unknown, without length ",
      other && a4($, { children: [
        a4("span", { class: "bar other" }),
        " the other packet"
      ] })
    ] })
  ] });
}
function whiskersOf(piece) {
  if (piece.kind === "hop" || piece.length === null || piece.uncertainty === null) return void 0;
  const end = piece.start + piece.length;
  return [Math.max(0, end - piece.uncertainty), Math.max(0, end + piece.uncertainty)];
}
var change = (now2, then) => now2 === then ? "the same" : `${duration(Math.abs(now2 - then))} ${now2 > then ? "longer" : "shorter"} than the other`;
function Ghost({ piece, share }) {
  if (!piece) return null;
  const isUnknown = piece.length === null || piece.kind === "link" && piece.uncertainty === null;
  return isUnknown ? a4("span", { class: "bar unknown", style: { left: share(piece.start) }, title: "unknown" }) : a4("span", { class: "bar other", style: { left: share(piece.start), width: share(piece.length) } });
}
function Hop({ now: now2, then, usually, arrived, share, way: way2, other }) {
  const { hop, start, length } = now2 ?? then;
  const usual2 = usually.get(hopKey(hop));
  const least = Math.min(usual2?.least ?? 0, length ?? 0);
  const isSplit = usual2 !== void 0 && usual2.least !== null;
  const place2 = queuePath(hop.node_id, hop.egress_interface, hop.queue_id);
  const queue = href(place2, around(arrived, 200000000n));
  const part = now2 && length !== null && way2.sum ? ` (${permille(1e3 * length / way2.sum)})` : "";
  const name = now2 ? node(hop.node_id) : a4("del", { children: node(hop.node_id) });
  return a4("tr", { "data-row": true, tabIndex: 0, class: now2 ? void 0 : "left", onKeyDown: (event) => event.key === "Enter" && go(queue), children: [
    a4("th", { scope: "row", children: a4("a", { href: queue, children: name }) }),
    a4("td", { children: [
      hop.ingress_interface ?? UNKNOWN,
      " › ",
      hop.queue_id ?? UNKNOWN,
      " › ",
      hop.egress_interface ?? UNKNOWN
    ] }),
    a4("td", { class: "track", children: [
      a4(Ghost, { piece: then, share }),
      now2 && length === null && a4("span", { class: "bar unknown", style: { left: share(start) }, title: "the node did not report its latency" }),
      now2 && length !== null && !isSplit && a4("span", { class: "bar whole", style: { left: share(start), width: share(length) } }),
      now2 && length !== null && isSplit && a4($, { children: [
        a4("span", { class: "bar base", style: { left: share(start), width: share(least) } }),
        length > least && a4("span", { class: "bar queued", style: { left: share(start + least), width: share(length - least) } })
      ] })
    ] }),
    a4("td", { class: "number", children: [
      now2 ? duration(length) : a4("span", { class: "muted", children: "not taken" }),
      a4("span", { class: "muted", children: part })
    ] }),
    other && a4("td", { class: "number", children: then ? duration(then.length) : a4("span", { class: "muted", children: "not taken" }) }),
    a4("td", { class: "number", children: usual2 ? `${duration(usual2.p50)}, ${duration(usual2.p99)}` : UNKNOWN }),
    a4("td", { class: "number", children: depthOf(hop.node_id, hop.queue_occupancy) }),
    a4("td", { class: "number", children: utilization(hop) })
  ] });
}
var NO_TIMES = "no timestamp at one end";
var SHORT_TIMES = "no time since 1970 at one end";
var NO_CLOCKS = "clock offset unknown";
function Link({ now: now2, then, share, known: known2, other }) {
  const { from, to, start, length, uncertainty } = now2 ?? then;
  const isUnknown = length === null || uncertainty === null;
  const [left, right] = whiskersOf(now2 ?? then) ?? [0, 0];
  const isTimed = from.egress_timestamp !== null && to.ingress_timestamp !== null;
  const why = length !== null ? NO_CLOCKS : isTimed ? SHORT_TIMES : NO_TIMES;
  const last = now2 ? void 0 : known2.get(linkKey(from.node_id, from.egress_interface, to.node_id, to.ingress_interface))?.lastSeen;
  const name = `link to ${node(to.node_id)}`;
  const write2 = (piece) => piece.length === null || piece.uncertainty === null ? UNKNOWN : `${duration(piece.length)} ± ${duration(piece.uncertainty)}`;
  return a4("tr", { class: now2 ? "link" : "link left", children: [
    a4("th", { scope: "row", class: "muted", children: now2 ? name : a4("del", { children: name }) }),
    a4("td", {}),
    a4("td", { class: "track", children: [
      a4(Ghost, { piece: then, share }),
      now2 && isUnknown && a4("span", { class: "bar unknown", style: { left: share(start) }, title: why }),
      now2 && !isUnknown && a4($, { children: [
        a4("span", { class: "bar link", style: { left: share(start), width: share(length) } }),
        a4("span", { class: "bar whisker", style: { left: share(left), width: `calc(${share(right)} - ${share(left)})` } })
      ] })
    ] }),
    a4("td", { class: "number", children: now2 ? write2(now2) : a4("span", { class: "muted", children: "not taken" }) }),
    other && a4("td", { class: "number", children: then ? write2(then) : a4("span", { class: "muted", children: "not taken" }) }),
    a4("td", { colSpan: 3, class: "muted", children: last !== void 0 && range().isLive ? a4($, { children: [
      "last used: ",
      a4(Time, { at: last })
    ] }) : isUnknown ? why : "" })
  ] });
}
function utilization({ node_id, egress_utilization: value }) {
  const share = permilleOf(node_id, value);
  return value === null || share !== null ? permille(share) : `${count(value)} (unit unknown)`;
}
function waterfallText(time, way2) {
  const lines = way2.pieces.map((piece) => {
    if (piece.kind === "link") {
      const isKnown = piece.length !== null && piece.uncertainty !== null;
      return `     link  ${isKnown ? `${duration(piece.length)} +- ${duration(piece.uncertainty)}` : "unknown"}`;
    }
    const { hop, length } = piece;
    return `${String(hop.hop_index + 1).padStart(3)}  ${shown(node(hop.node_id)).padEnd(16)} ${hop.ingress_interface ?? "-"} > ${hop.egress_interface ?? "-"}  ${duration(length)}  queue ${count(hop.queue_occupancy)}`;
  });
  return [`${time}, ${duration(way2.sum)}${way2.isWhole ? "" : " (known parts only)"}`, ...lines].join("\n").replaceAll(" ", " ");
}

// src/views/flow.tsx
function Flow({ name }) {
  const named2 = useAsk(`flow ${name} ${timeAsked()[0]}`, () => resolve(name));
  return a4(Answer, { asked: named2, children: (id) => id ? a4(Known2, { id }) : a4(Empty, { children: [
    "Unknown flow “",
    shown(name),
    "”: neither active nor in the history of this time range. ",
    a4("a", { href: href("/flows"), children: "All flows" })
  ] }) });
}
function Known2({ id }) {
  if (lastFlow.peek() !== id) lastFlow.value = id;
  const [pause3, setPause] = d2(2e3);
  const [when, every] = timeAsked(pause3);
  const ask2 = async (signal) => {
    const of = await found(id, signal);
    setPause(of.isActive ? 2e3 : 2e4);
    return of;
  };
  const asked = useAsk(`live ${id} ${when}`, ask2, every);
  return a4(Answer, { asked, children: (of) => a4($, { children: [
    a4(Head, { id, of }),
    a4(Packets, { id, of })
  ] }) });
}
function Head({ id, of: { flow, isActive } }) {
  if (!isActive) {
    return a4($, { children: [
      a4("h1", { class: "mono", children: flow ? flowText(flow.flow) : `Flow ${id}` }),
      a4(Empty, { children: "No recent reports of this flow; its history is below." })
    ] });
  }
  const missing = flow.hops_expected === null ? "expected number of hops unknown" : `${plural(flow.hops_expected, "hop")} expected`;
  return a4($, { children: [
    a4("h1", { class: "mono", children: flowText(flow.flow) }),
    a4(Facts, { facts: [
      ["Hosts", flow.source_name || flow.destination_name ? [flow.source_name, flow.destination_name].map((name) => shown(name, 64)).join(" > ") : UNKNOWN],
      ["Source of path", flow.origin],
      ["Path", flow.complete ? `complete, ${plural(flow.path?.length ?? 0, "hop")}` : `incomplete: ${missing}`],
      ...range().isLive ? [["Reports", count(flow.reports)], ["Last seen", a4(Time, { at: flow.last_seen })]] : []
    ] })
  ] });
}
var isPart = () => range().span > MINUTE;
function window_() {
  const { from, to } = range();
  return { from: isPart() ? to - MINUTE : from, to };
}
function Packets({ id, of: { flow, paths } }) {
  const [when, every] = timeAsked();
  const order = param("order") === "time" ? "time" : "slowest";
  const find2 = (signal) => packetsOf(id, window_().from, window_().to, order, signal);
  const list = useAsk(`packets ${id} ${order} ${when}`, find2, every);
  return a4(Answer, { asked: list, children: (packets) => {
    const named2 = packetTime(param("packet")) === void 0 ? "" : param("packet");
    const taken = paths.length > 0 && a4(Paths, { paths });
    if (!packets.length && !named2) return a4($, { children: [
      a4(None2, { id, last: flow?.last_seen }),
      taken
    ] });
    const name = named2 || packetName(packets[0]);
    return a4($, { children: [
      a4(One, { id, name, time: packetTime(name), paths, isCut: flow?.complete === false, isAsked: named2 !== "" }),
      taken,
      a4(List3, { id, packets, order, chosen: name })
    ] });
  } });
}
var None2 = ({ id, last }) => a4(Empty, { children: [
  "No packets of this flow in the history for ",
  isPart() && "the last minute of ",
  "this time range.",
  last && a4($, { children: [
    " ",
    a4("a", { href: href("/flow/" + id, around(BigInt(last), MINUTE)), children: "Its latest packets" })
  ] })
] });
var NOTHING_USUAL = new Map();
function One({ id, name, time, paths, isCut, isAsked }) {
  const compared = packetTime(param("cmp")) === void 0 ? "" : param("cmp");
  const [previous, current] = before(paths, time);
  const other = compared && compared !== name ? compared : previous ? `until ${previous.until}` : "";
  const asked = useAsk(`hops ${id} ${name}`, async (signal) => {
    const hops = await hopsOf(id, name, signal);
    const past = previous?.path.map(({ node_id }) => node_id) ?? [];
    return { hops, known: await linksKnown([...hops.map(({ node_id }) => node_id), ...past], signal) };
  });
  const ghosts = useAsk(
    `beside ${id} ${name} ${other}`,
    async (signal) => compared && compared !== name ? hopsOf(id, compared, signal) : previous ? lastOn(id, previous.path, BigInt(previous.until), signal) : []
  );
  const values = useAsk(`usual ${id} ${name}`, (signal) => usual(id, time - MINUTE / 2n, time + MINUTE / 2n, signal));
  const then = !ghosts.isStale && ghosts.data || [];
  const usually = !values.isStale && values.data || NOTHING_USUAL;
  const toggle = () => set({ cmp: compared ? void 0 : name, packet: name }, true);
  useKeys({ v: toggle });
  return a4(Answer, { asked, children: ({ hops, known: known2 }) => {
    if (!hops.length) return a4(Empty, { children: "This report is no longer in the history." });
    const way2 = pieces(hops, known2);
    const isSame = !compared && then.every((hop, at) => hop.node_id === hops[at]?.node_id) && then.length === hops.length;
    const ghost = then.length && !isSame ? pieces(then, known2) : void 0;
    return a4("section", { "aria-labelledby": "packet", children: [
      a4("h2", { id: "packet", children: [
        isAsked ? "Packet" : param("order") === "time" ? "Latest packet" : "Slowest packet",
        " at ",
        a4("time", { children: exact(time) }),
        ": ",
        duration(way2.sum),
        (isCut || !way2.isWhole) && " (known parts only)"
      ] }),
      a4("p", { children: [
        a4("button", { onClick: toggle, "aria-pressed": compared !== "", title: "v", children: compared ? "End comparison" : "Compare with another packet" }),
        " ",
        compared === name && "Choose a packet below, or with the arrow keys.",
        compared && compared !== name && a4($, { children: [
          "Dashed: the packet at ",
          exact(packetTime(compared)),
          "."
        ] })
      ] }),
      a4(Waterfall, { way: way2, other: ghost, arrived: time, usually, known: known2 }),
      a4(Missing, { hops }),
      previous && !compared && a4(Before, { previous, current, isDrawn: ghost !== void 0, isAsked: ghosts.data !== void 0 && !ghosts.isStale }),
      a4("p", { class: "muted", children: [
        a4("a", { href: href(`/report/${name.split("-").slice(0, 3).join("/")}`, { at: String(time), span: "2s" }), children: [
          "Report ",
          name.split("-")[2],
          " of ",
          node(Number(name.split("-")[0]))
        ] }),
        ". Usual values: from reports of this flow within 30 s of this packet."
      ] }),
      a4(Copier, { text: () => waterfallText(exact(time), way2) + (ghost ? `

compared with: ${waterfallText(then[0].time ? exact(BigInt(then[0].time)) : "", ghost)}` : "") })
    ] });
  } });
}
function before(paths, time) {
  const sorted = [...paths].sort((a5, b3) => BigInt(a5.since) < BigInt(b3.since) ? -1 : 1);
  const at = sorted.findLastIndex((path) => BigInt(path.since) <= time);
  return at > 0 ? sorted.slice(at - 1, at + 1) : [];
}
function Copier({ text }) {
  useCopy(text);
  return null;
}
function Missing({ hops }) {
  const [first2] = hops;
  const missing = (first2?.hop_count ?? 0) - hops.length;
  const dropped = first2?.dropped ? "Dropped here. " : "";
  if (first2?.origin !== "md-stack") {
    return a4("p", { class: "notice", children: [
      dropped,
      "This report covers one hop (",
      first2?.origin,
      "). The other nodes send their own reports."
    ] });
  }
  if (missing <= 0) return dropped ? a4("p", { class: "notice", children: dropped }) : null;
  return a4("p", { class: "notice", children: [
    dropped,
    plural(missing, "hop"),
    " missing: hop limit reached (E bit), MTU reached (M bit), or suppressed by a node's filter."
  ] });
}
function Before({ previous, current, isDrawn, isAsked }) {
  const [then, now2] = [previous, current].map(({ path }) => path.map(({ node_id }) => node_id));
  if (String(then) === String(now2)) return null;
  return a4("p", { class: "ghost", children: [
    "Until ",
    a4(Time, { at: previous.until }),
    " the path was",
    " ",
    then.map((id, at) => a4("span", { children: [
      at > 0 && " → ",
      now2.includes(id) ? node(id) : a4("del", { children: node(id) })
    ] }, at)),
    isDrawn ? "; its last packet is dashed above." : isAsked ? "; no stored report of that time shows all of it." : "."
  ] });
}
function List3({ id, packets, order, chosen }) {
  const choose = (packet) => packet && set({ packet: packetName(packet) }, true);
  const address2 = (packet) => href("/flow/" + id, { packet: packetName(packet), order: param("order"), cmp: param("cmp") });
  const at = packets.findIndex((packet) => packetName(packet) === chosen);
  useKeys({ ArrowLeft: () => choose(packets[at - 1]), ArrowRight: () => choose(packets[at + 1]) });
  if (!packets.length) return null;
  return a4("section", { children: [
    a4("h2", { children: "Packets" }),
    a4("p", { children: [
      a4("button", { "aria-pressed": order === "slowest", onClick: () => set({ order: void 0, packet: void 0 }), children: "Slowest first" }),
      " ",
      a4("button", { "aria-pressed": order === "time", onClick: () => set({ order: "time", packet: void 0 }), children: "Latest first" })
    ] }),
    a4(
      Table,
      {
        caption: `${plural(packets.length, "reported packet")}, from one minute at most`,
        rows: packets,
        keyOf: packetName,
        isChosen: (packet) => packetName(packet) === chosen,
        open: address2,
        columns: [
          { name: "Arrived", cell: (packet) => a4("a", { href: address2(packet), children: exact(BigInt(packet.time)) }) },
          { name: "Sum of hops", isNumber: true, cell: (packet) => duration(packet.total) },
          { name: "Longest hop", isNumber: true, cell: (packet) => duration(packet.longest) },
          { name: "Hops", isNumber: true, cell: (packet) => packet.hops === packet.hop_count ? count(packet.hops) : `${packet.hops} of ${packet.hop_count}` },
          { name: "Report", cell: (packet) => `${node(packet.reporter)} ${packet.hw_id} ${count(packet.sequence)}` },
          { name: "Dropped", cell: (packet) => packet.dropped ? "yes" : "no" }
        ]
      }
    )
  ] });
}
function Paths({ paths }) {
  const sorted = [...paths].sort((a5, b3) => BigInt(a5.since) < BigInt(b3.since) ? 1 : -1);
  return a4(Table, { caption: "Latest paths of this flow", rows: sorted, keyOf: (path, at) => path.id + at, columns: [
    { name: "Path", cell: (path) => path.path.map((hop) => node(hop.node_id)).join(" → ") || UNKNOWN },
    { name: "Since", cell: (path) => a4(Time, { at: path.since }) },
    { name: "Until", cell: (path) => path.current ? "now" : a4(Time, { at: path.until }) }
  ] });
}

// src/columns.ts
function rowsOf(columns3) {
  const rows = [];
  for (const [name, cells] of Object.entries(columns3)) cells.forEach((cell2, at) => (rows[at] ??= {})[name] = cell2);
  return rows;
}

// src/parts/filter.tsx
function FilterField({ text, wrong, examples: examples2 }) {
  const [typed, setTyped] = d2(text);
  const [isOpen, setOpen] = d2(false);
  const [chosen, setChosen] = d2(-1);
  const [seen, setSeen] = d2(text);
  const field = T2(null);
  const [caret, setCaret] = d2([...text].length);
  const [wanted, setWanted] = d2();
  F2(() => {
    if (wanted === void 0) return;
    field.current?.setSelectionRange(wanted, wanted);
    setWanted(void 0);
  }, [wanted]);
  if (seen !== text) {
    setSeen(text);
    setTyped(text);
  }
  const follow2 = ({ currentTarget: { value, selectionStart } }) => setCaret([...value.slice(0, selectionStart ?? value.length)].length);
  const question = `filter/complete?text=${encodeURIComponent(typed)}&caret=${caret}`;
  const { data } = useAsk(isOpen ? question : "", async (signal) => isOpen ? { ...await ask(question, { signal }), text: typed, caret } : void 0);
  const [kept2, rest] = data ? [[...data.text].slice(0, data.from).join(""), [...data.text].slice(data.caret).join("").trimStart()] : ["", ""];
  const offers = isOpen && data ? data.options.slice(0, MOST2).map((option) => ({ ...option, upTo: `${kept2}${option.text} ` })) : [];
  const take2 = (upTo) => {
    setTyped(upTo + rest);
    setCaret([...upTo].length);
    setWanted(upTo.length);
    setChosen(-1);
  };
  const apply = () => {
    setChosen(-1);
    setOpen(false);
    set({ q: typed.trim() || void 0 });
  };
  const onKey2 = (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      setOpen(true);
      const by2 = event.key === "ArrowDown" ? 1 : -1;
      setChosen((old) => offers.length ? (old + by2 + offers.length) % offers.length : -1);
    } else if (event.key === "Enter") {
      const offer = offers[chosen];
      offer ? take2(offer.upTo) : apply();
    } else if (event.key === "Tab" && chosen >= 0 && offers[chosen]) {
      event.preventDefault();
      take2(offers[chosen].upTo);
    } else if (event.key === "Escape" && isOpen) {
      event.stopPropagation();
      setOpen(false);
    }
  };
  return a4("div", { class: "filter", children: [
    a4("label", { for: "filter", children: "Filter" }),
    a4(
      "input",
      {
        id: "filter",
        ref: field,
        "data-filter": true,
        role: "combobox",
        "aria-expanded": offers.length > 0,
        "aria-controls": "offers",
        "aria-autocomplete": "list",
        "aria-activedescendant": chosen >= 0 ? `offer-${chosen}` : void 0,
        "aria-invalid": wrong ? true : void 0,
        "aria-describedby": wrong ? "filter-error" : void 0,
        autocomplete: "off",
        spellcheck: false,
        placeholder: examples2.join("   "),
        value: typed,
        onInput: (event) => (setTyped(event.currentTarget.value), follow2(event), setOpen(true), setChosen(-1)),
        onKeyUp: follow2,
        onClick: follow2,
        onFocus: () => setOpen(true),
        onBlur: () => setOpen(false),
        onKeyDown: onKey2
      }
    ),
    offers.length > 0 && a4("ul", { id: "offers", role: "listbox", "aria-label": "Suggestions", children: offers.map((offer, at) => a4("li", { id: `offer-${at}`, role: "option", "aria-selected": at === chosen, onMouseDown: (event) => (event.preventDefault(), take2(offer.upTo)), children: [
      a4("code", { children: shown(offer.text) }),
      " ",
      a4("span", { class: "muted", children: shown(offer.about) })
    ] }, offer.text)) }),
    wrong && a4("p", { id: "filter-error", class: "bad", children: shown(wrong, 600) })
  ] });
}
var MOST2 = 20;

// src/views/flows.tsx
var SORTS = { worst: "longest hop", latency: "sum of hops", reports: "reports", changes: "path changes", "last-seen": "latest report", "first-seen": "latest start" };
var MOST_CHANGES = 7;
var [FEW, MANY] = [100, 500];
function Flows2() {
  const filter = param("q");
  const sort = param("sort") in SORTS ? param("sort") : "worst";
  const question = `flows/search?limit=${param("many") ? MANY : FEW}&sort=${sort}&filter=${encodeURIComponent(filter)}`;
  const flows = useAsk(question, (signal) => ask(question, { signal }), range().isLive ? 2e3 : void 0);
  const wrong = flows.error?.status === 400 ? flows.error.message : "";
  if (wrong) isReady.value = true;
  const rows = flows.data ? rowsOf(flows.data.columns) : [];
  return a4($, { children: [
    a4("h1", { children: "Flows" }),
    a4(OnlyPresent, { what: "Flows" }),
    a4(FilterField, { text: filter, wrong, examples: examples(rows) }),
    a4("label", { class: "sort", children: [
      "Sort by",
      " ",
      a4("select", { value: sort, onChange: (event) => set({ sort: event.currentTarget.value }), children: Object.entries(SORTS).map(([key3, name]) => a4("option", { value: key3, children: name }, key3)) })
    ] }),
    (!wrong || flows.data) && a4(Answer, { asked: wrong ? { ...flows, error: void 0 } : flows, children: (found2) => a4(List4, { found: found2, rows, sort: SORTS[sort] }) }),
    rows.length < (flows.data?.found ?? 0) && !param("many") && a4("p", { children: a4("button", { onClick: () => set({ many: "1" }), children: [
      "Show ",
      MANY
    ] }) })
  ] });
}
var examples = ([first2]) => {
  const hop = first2?.path[1] ?? first2?.path[0];
  return [first2 && `source = ${first2.source}`, hop !== void 0 && `node = ${hop}`, "latency > 1ms", "protocol = tcp"].filter(Boolean);
};
function List4({ found: { found: found2, known: known2, base: base2 }, rows, sort }) {
  useCopy(() => rows.map((flow) => `${flowText(flow)}  ${flow.path.map(node).join(" ")}  ${duration(flow.latency)}`).join("\n"));
  if (!known2 && totals.value?.received) return a4(Empty, { children: [
    "No flow was reported lately. ",
    a4("a", { href: href("/reports"), children: "Received reports" })
  ] });
  if (!known2) return a4(Empty, { children: "No flows reported yet. Nodes report only watched flows: see “watch” in node.toml." });
  if (!found2) {
    return a4(Empty, { children: [
      "No match among ",
      plural(known2, "flow"),
      ". ",
      a4("button", { onClick: () => set({ q: void 0 }), children: "Show all" })
    ] });
  }
  const longest = Math.max(1, ...rows.map((flow) => flow.worst_latency ?? 0));
  const caption = `${count(rows.length)} of ${found2 < known2 ? `${plural(found2, "matching flow")} (${count(known2)} in total)` : plural(found2, "flow")}, by ${sort}`;
  return a4(Table, { caption, columns: columns(longest, BigInt(base2)).filter(({ name }) => name !== "Hosts" || rows.some((flow) => flow.source_name || flow.destination_name)), rows, open: (flow) => href("/flow/" + flow.id) });
}
function columns(longest, base2) {
  const named2 = (flow) => [flow.source_name, flow.destination_name].filter(Boolean).map((name) => shown(name, 40)).join(" > ");
  return [
    { name: "Flow", cell: (flow) => a4(FlowLink, { flow, id: flow.id }) },
    { name: "Hosts", cell: (flow) => named2(flow) || UNKNOWN },
    { name: "Path", cell: (flow) => a4($, { children: [
      a4(Path, { hops: flow.path.map((node_id) => ({ node_id })) }),
      flow.path.length > 0 && !flow.complete && a4("span", { class: "muted", title: "hops are missing", children: " …" })
    ] }) },
    { name: "Sum of hops", isNumber: true, cell: (flow) => duration(flow.latency) },
    {
      name: "Longest hop",
      isNumber: true,
      cell: ({ path, worst: worst2, worst_latency: most }) => a4("span", { class: "barred", children: [
        a4("meter", { "aria-hidden": "true", min: 0, max: longest, value: most ?? 0 }),
        duration(most),
        " ",
        worst2 !== null && path[worst2] !== void 0 && `at ${node(path[worst2])}`
      ] })
    },
    { name: "Path changes", isNumber: true, cell: (flow) => count(flow.changes) + (flow.changes < MOST_CHANGES ? "" : " or more") },
    { name: "Reports", isNumber: true, cell: (flow) => count(flow.reports) },
    { name: "Last seen", cell: (flow) => a4(Time, { at: base2 + BigInt(flow.last_seen) }) }
  ];
}

// src/fabric.ts
var BYS = {
  p99: { name: "p99 hop latency", write: duration, steps: [1e4, 1e5, 1e6, 1e7, 1e8, 1e9] },
  max: { name: "longest hop latency", write: duration, steps: [1e4, 1e5, 1e6, 1e7, 1e8, 1e9] },
  depth: { name: "deepest queue", write: count, steps: [1e3, 1e4, 5e4, 1e5, 5e5, 1e6] },
  utilization: { name: "utilisation", write: permille, steps: [100, 200, 400, 600, 800, 900] },
  reports: { name: "reports per second", write: rate, steps: [1, 10, 100, 1e3, 1e4, 1e5] },
  drops: { name: "drop reports", write: count, steps: [1, 10, 100, 1e3, 1e4, 1e5] },
  silence: { name: "time since last path", write: (value) => value !== null && value < 1e9 ? "under 1 s" : duration(value), steps: [2e9, 5e9, 1e10, 6e10, 6e11, 36e11] }
};
var by = () => param("by") in BYS ? param("by") : "p99";
var counted = y3(0);
function step2(by2, value) {
  if (value === null) return 0;
  const above = BYS[by2].steps.findIndex((bound) => value < bound);
  return above < 0 ? 7 : above + 1;
}
var written = (by2, value) => value === null ? UNKNOWN : BYS[by2].write(value);
async function fabric(gone, of) {
  const { from, to } = range();
  const question = `map?from=${from}&to=${to}${of === void 0 ? "" : "&node=" + of}`;
  const [map] = await Promise.all([ask(question, { signal: gone }), tiersOf(0)]);
  const seconds2 = Number(BigInt(map.to) - BigInt(map.from)) / 1e9;
  const ids = map.nodes.node;
  if (of === void 0) counted.value = ids.length;
  const ports = new Map();
  for (const row of rowsOf(map.interfaces)) {
    const { node: node2, interface: port2, p99, max: max2, depth, drops } = row;
    const values = { ...nothing, p99: p99 === null ? null : Math.min(p99, max2 ?? p99), max: max2, depth, drops, reports: row.reports / seconds2, utilization: permilleOf(node2, row.utilization) };
    ports.set(key(node2, port2), { node: node2, port: port2, link: void 0, values });
  }
  const links = rowsOf(map.links).map((row) => {
    const [from2, to2] = [ids[row.from], ids[row.to]];
    const { egress_interface: egress, ingress_interface: ingress, certain, latency_p50: latency, uncertainty } = row;
    const port2 = ports.get(key(from2, egress)) ?? { node: from2, port: egress, link: void 0, values: { ...nothing } };
    ports.set(key(from2, egress), port2);
    const silence2 = row.silent_seconds === null ? null : row.silent_seconds * 1e9;
    const id = `${key(from2, egress)}-${key(to2, ingress)}`;
    const values = { ...port2.values, silence: silence2 };
    const link = { id, from: from2, to: to2, egress, ingress, certain, latency, uncertainty, values };
    if (!port2.link || certain) {
      port2.link = link;
      port2.values.silence = silence2;
    }
    return link;
  });
  const byNode = new Map();
  for (const { node: node2, values } of ports.values()) byNode.get(node2)?.push(values) ?? byNode.set(node2, [values]);
  const tiers = await tiersOf(counted.value);
  const nodes2 = rowsOf(map.nodes).map((row) => {
    return { id: row.node, tier: tiers.get(row.node) ?? 0, reportsItself: row.reports_itself || !range().isLive, values: worst(byNode.get(row.node) ?? []) };
  });
  return { nodes: nodes2, ports: [...ports.values()], links };
}
var nothing = { p99: null, max: null, depth: null, reports: null, utilization: null, drops: null, silence: null };
async function groups2(by2, gone) {
  const { from, to } = range();
  const question = `map?group=auto&by=${by2}&from=${from}&to=${to}`;
  const [map] = await Promise.all([ask(question, { signal: gone }), tiersOf(0)]);
  const all = rowsOf(map.groups);
  counted.value = all.reduce((sum2, { nodes: nodes3 }) => sum2 + nodes3.length, 0);
  const seconds2 = Number(BigInt(map.to) - BigInt(map.from)) / 1e9;
  const convert = (value, { nodes: nodes3 }) => {
    if (value === null || !["reports", "utilization"].includes(by2)) return value;
    return by2 === "reports" ? value / seconds2 : permilleOfAll(nodes3, value);
  };
  const converted = all.map((group) => ({ ...group, value: convert(group.value, group) }));
  const values = (value) => ({ ...nothing, [by2]: value });
  const tiers = await tiersOf(counted.value);
  const nodes2 = converted.map(({ nodes: nodes3, reports, value }, id) => {
    return { id, tier: tiers.get(nodes3[0]) ?? 0, reportsItself: reports > 0, values: values(value) };
  });
  const unknown = { egress: null, ingress: null, latency: null, uncertainty: null };
  const links = rowsOf(map.bundles).map(({ from: from2, to: to2, value, uncertain }) => {
    const own = values(convert(value, all[from2]));
    return { id: `${from2}-${to2}`, from: from2, to: to2, ...unknown, certain: !uncertain, values: own };
  });
  return { groups: converted, fabric: { nodes: nodes2, links, ports: [] } };
}
var key = (node2, port2) => `${node2}.${port2 ?? "*"}`;
function worst(all) {
  const own = all.map((values) => ({ values }));
  return Object.fromEntries(Object.keys(BYS).map((by2) => [by2, worstOf(by2, own)]));
}
function worstOf(by2, all) {
  const known2 = all.map(({ values }) => values[by2]).filter((value) => value !== null);
  return known2.length ? known2.reduce((a5, b3) => Math.max(a5, b3)) : null;
}
var known = new Map();
var [askedAt3, pause2, seenNodes] = [0, 2e3, 0];
var failures = 0;
var asking;
async function tiersOf(nodes2) {
  if (nodes2 > seenNodes && seenNodes) pause2 = 2e3;
  seenNodes = Math.max(seenNodes, nodes2);
  if (Date.now() - askedAt3 < pause2) return known;
  asking ??= learnTiers().finally(() => asking = void 0);
  await asking;
  return known;
}
async function learnTiers() {
  const answer = await ask("flows/search?limit=2000&sort=reports").catch((error) => {
    askedAt3 = Date.now();
    if (!known.size && !failures++) throw error;
    pause2 = Math.min(6e4, 2 * pause2);
  });
  if (!answer) return;
  failures = 0;
  const seen = new Map();
  for (const { path, complete } of rowsOf(answer.columns)) {
    path.forEach((node2, at) => {
      const isCut = complete === false;
      const distance = isCut ? at : Math.min(at, path.length - 1 - at);
      const counts = seen.get(node2) ?? new Map();
      counts.set(distance, (counts.get(distance) ?? 0) + (isCut ? 1 : 2e3));
      seen.set(node2, counts);
    });
  }
  known = new Map([...seen].map(([node2, counts]) => [node2, [...counts].sort((a5, b3) => b3[1] - a5[1])[0][0]]));
  [askedAt3, pause2] = [Date.now(), Math.min(6e4, 2 * pause2)];
}

// src/parts/fabric.tsx
var Nothing = () => a4(Empty, { children: [
  "No node has reported in this time range. ",
  a4("a", { href: href("/reports"), children: "Received reports" })
] });
var columns2 = () => [
  { name: "Interface", cell: (port2) => a4("a", { href: href("/map", { ...kept(), sel: port2.link?.id ?? String(port2.node) }), children: portName(port2) }) },
  { name: "Leads to", cell: (port2) => a4("span", { class: "path", children: port2.link ? `${node(port2.link.to)} ${port2.link.ingress ?? UNKNOWN}` : "edge, or unknown" }) },
  ...Object.keys(BYS).map((key3) => ({ name: BYS[key3].name, isNumber: true, cell: (port2) => a4("span", { class: `swatch s${step2(key3, port2.values[key3])}`, children: shownAt(key3, port2.node, port2.values[key3]) }) })),
  { name: "Link latency p50", isNumber: true, cell: (port2) => port2.link ? latencyOf(port2.link) : UNKNOWN },
  {
    name: "Queues",
    cell: ({ node: node2, port: port2 }) => a4("a", { href: href(queuePath(node2, port2, void 0)), children: "queues" })
  }
];
var shownAt = (key3, of, value) => key3 === "depth" ? depthOf(of, value) : written(key3, value);
var portName = (port2) => `${node(port2.node)} ${port2.port ?? UNKNOWN}`;
var kept = () => ({ by: param("by"), form: param("form") });
var linkName = (link) => `${node(link.from)} ${link.egress ?? UNKNOWN} → ${node(link.to)} ${link.ingress ?? UNKNOWN}`;
var latencyOf = (link) => link.latency !== null && link.uncertainty !== null ? `${duration(link.latency)} ± ${duration(link.uncertainty)}` : UNKNOWN;
function Legend() {
  const { steps, write: write2, name } = BYS[by()];
  return a4("p", { class: "scale", "aria-label": `Colours: ${name}`, children: [
    [1, 2, 3, 4, 5, 6, 7].map((at) => a4("span", { children: [
      a4("i", { class: `s${at}` }),
      " ",
      at === 1 ? `under ${write2(steps[0])}` : at === 7 ? `${write2(steps[5])} or more ↑` : `from ${write2(steps[at - 2])}`
    ] }, at)),
    a4("span", { children: [
      a4("i", { class: "s0" }),
      " unknown"
    ] })
  ] });
}
function Selected({ found: found2, selected }) {
  const one = found2.nodes.find(({ id }) => String(id) === selected);
  if (one) return a4(NodePanel, { one, ports: found2.ports });
  const link = found2.links.find(({ id }) => id === selected);
  if (link) return a4(LinkPanel, { link, links: found2.links });
  const clear = () => {
    document.getElementById("main")?.focus({ preventScroll: true });
    set({ sel: void 0 });
  };
  if (!selected) return null;
  return a4(Empty, { children: [
    "“",
    shown(selected),
    "” is not on the map. ",
    a4("button", { onClick: clear, children: "Clear selection" })
  ] });
}
function NodePanel({ one, ports }) {
  const asked = useAsk("node " + one.id, (signal) => ask(`nodes?node=${one.id}`, { signal }), 5e3);
  const known2 = one.reportsItself ? asked.data?.[0] : void 0;
  return a4("section", { class: "panel", "aria-label": node(one.id), children: [
    a4("h2", { children: node(one.id) }),
    a4(Facts, { facts: [
      ["Node ID", String(one.id)],
      ["Reports", one.reportsItself ? count(known2?.reports) : "sends none; seen only in other nodes' reports"],
      ["Lost reports", count(known2?.lost)],
      ["Flows", a4("a", { href: href("/flows", { q: `node = ${one.id}` }), children: "flows through this node" })]
    ] }),
    a4(Table, { caption: "Egress interfaces", rows: ports.filter((port2) => port2.node === one.id), keyOf: portName, columns: columns2() })
  ] });
}
function LinkPanel({ link, links }) {
  const back = links.find((other) => other.from === link.to && other.to === link.from && other.egress === link.ingress);
  const flows = useAsk("link " + link.id, (signal) => ask(`links/${link.id}/flows?limit=20`, { signal }), 5e3);
  return a4("section", { class: "panel", "aria-label": linkName(link), children: [
    a4("h2", { children: linkName(link) }),
    a4(Table, { caption: "Both directions", rows: back ? [link, back] : [link], columns: [
      { name: "Direction", cell: (one) => linkName(one) },
      { name: "Link latency p50", isNumber: true, cell: latencyOf },
      ...Object.keys(BYS).map((key3) => ({ name: BYS[key3].name, isNumber: true, cell: (one) => a4("span", { class: `swatch s${step2(key3, one.values[key3])}`, children: shownAt(key3, one.from, one.values[key3]) }) }))
    ] }),
    !back && a4("p", { class: "muted", children: "No path in the other direction has been reported." }),
    a4(Answer, { asked: flows, children: (list) => list.length ? a4(
      Table,
      {
        caption: `${plural(list.length, "flow")} whose latest path uses this link`,
        rows: list,
        open: (flow) => href("/flow/" + flow.id),
        columns: [
          { name: "Flow", cell: (flow) => a4(FlowLink, { flow: flow.flow, id: flow.id }) },
          { name: "Path", cell: (flow) => a4(Path, { hops: flow.path }) },
          { name: "Reports", isNumber: true, cell: (flow) => count(flow.reports) }
        ]
      }
    ) : a4(Empty, { children: "No flow uses this link now." }) })
  ] });
}

// src/parts/grid.ts
function useGrid({ rows, columns: columns3, step: step3, nothing: nothing2, start, open, painted }) {
  const canvas = T2(null);
  const [at, setAt] = d2();
  A2(() => {
    canvas.current.width = Math.max(1, columns3);
    canvas.current.height = Math.max(1, rows);
    const style = getComputedStyle(document.documentElement);
    const names = [nothing2, ...[1, 2, 3, 4, 5, 6, 7].map((one) => `--scale${one}`)];
    const colours = names.map((name) => rgb(style.getPropertyValue(name).trim()));
    const context = canvas.current.getContext("2d");
    const image = context.createImageData(canvas.current.width, canvas.current.height);
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns3; column++) {
        const one = step3(row, column);
        if (one !== void 0) image.data.set([...colours[one], 255], 4 * (row * columns3 + column));
      }
    }
    context.putImageData(image, 0, 0);
  }, [rows, columns3, ...painted, isDark.value]);
  const clamp2 = (value, many) => Math.max(0, Math.min(many - 1, value));
  const find2 = (event) => {
    const box = canvas.current.getBoundingClientRect();
    return [clamp2(Math.floor((event.clientY - box.top) / box.height * rows), rows), clamp2(Math.floor((event.clientX - box.left) / box.width * columns3), columns3)];
  };
  const onKeyDown = (event) => {
    const by2 = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (event.key === "Enter") open?.(...at ?? start);
    else if (by2) setAt(([row, column] = start) => [clamp2(row + by2[0], rows), clamp2(column + by2[1], columns3)]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return {
    at: at && at[0] < rows && at[1] < columns3 ? at : void 0,
    drawn: {
      ref: canvas,
      role: "img",
      tabIndex: 0,
      onMouseMove: (event) => setAt(find2(event)),
      onMouseLeave: () => setAt(void 0),
      onClick: (event) => open?.(...find2(event)),
      onKeyDown
    }
  };
}
var rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

// src/parts/matrix.tsx
function Matrix({ found: found2, by: by2, selected, node: node2, open }) {
  const { rows, columns: columns3, cells, fold } = w2(() => arrange(found2, by2), [found2, by2]);
  const cell2 = (row2, column2) => cells[row2 * columns3.length + column2];
  const { at, drawn } = useGrid({
    rows: rows.length,
    columns: columns3.length,
    step: (row2, column2) => {
      const link = cell2(row2, column2);
      return link && step2(by2, link.values[by2]);
    },
    nothing: "--hairline",
    start: [0, 0],
    open: (row2, column2) => {
      const link = cell2(row2, column2);
      if (link) open(link);
    },
    painted: [cells]
  });
  const [row, column] = at ?? [0, 0];
  const here = cell2(row, column);
  const group = rows[row] ?? [];
  const names = group.length > 1 ? `${node2(group[0])} to ${node2(group.at(-1))}` : group.length ? node2(group[0]) : "";
  const worstHere = here && `${group.length > 1 ? `worst ${node2(here.from)} to ${node2(here.to)}, ` : ""}${written(by2, here.values[by2])}`;
  const told = `${names} and ${columns3.length ? node2(columns3[column]) : ""}: ${worstHere ?? "no link seen"}`;
  const worst2 = worstOf(by2, cells.filter((link) => link !== void 0));
  return a4("figure", { class: "matrix", children: [
    a4(
      "canvas",
      {
        ...drawn,
        "data-selected": selected || void 0,
        style: { maxWidth: `${columns3.length * 48}px`, maxHeight: `${rows.length * 28}px` },
        "data-fold": fold,
        "aria-label": `${plural(rows.flat().length, "node")} by ${columns3.length}, worst link by ${BYS[by2].name}: ${written(by2, worst2)}. Arrow keys move from cell to cell, Enter opens. The table below lists the worst links.`
      }
    ),
    a4("figcaption", { "aria-live": "polite", children: [
      told,
      fold > 1 && a4("span", { class: "muted", children: [
        ". A row stands for ",
        fold,
        " nodes; a cell shows the worst of them."
      ] })
    ] })
  ] });
}
function arrange(found2, by2) {
  const tierOf = new globalThis.Map(found2.nodes.map(({ id, tier }) => [id, tier]));
  const top = Math.max(1, ...found2.nodes.map(({ tier }) => tier));
  const ordered = [...found2.nodes].sort((a5, b3) => a5.tier - b3.tier || a5.id - b3.id);
  const isFlat = found2.links.some(({ from, to }) => tierOf.get(from) === top && tierOf.get(to) === top);
  const lower = ordered.filter(({ tier }) => tier < top || isFlat).map(({ id }) => id);
  const upper = ordered.filter(({ tier }) => tier > 0).map(({ id }) => id);
  const columns3 = upper.length ? upper : lower;
  const fold = Math.max(1, Math.ceil(lower.length / Math.max(100, Math.floor(innerHeight * 0.6))));
  const rows = Array.from({ length: Math.ceil(lower.length / fold) }, (_5, row) => lower.slice(row * fold, (row + 1) * fold));
  const rowOf = new globalThis.Map(lower.map((id, at) => [id, Math.floor(at / fold)]));
  const columnOf = new globalThis.Map(columns3.map((id, at) => [id, at]));
  const cells = new Array(rows.length * columns3.length).fill(void 0);
  for (const link of found2.links) {
    const isUp = (tierOf.get(link.from) ?? 0) <= (tierOf.get(link.to) ?? 0);
    const [low, high] = isUp ? [link.from, link.to] : [link.to, link.from];
    const [row, column] = [rowOf.get(low), columnOf.get(high)];
    if (row === void 0 || column === void 0) continue;
    const at = row * columns3.length + column;
    if (!cells[at] || (link.values[by2] ?? -1) > (cells[at].values[by2] ?? -1)) cells[at] = link;
  }
  return { rows, columns: columns3, cells, fold };
}

// src/parts/tiers.tsx
var [WIDTH, TIER, BOX] = [1e3, 130, 30];
function Tiers({ found: found2, by: by2, selected }) {
  const places = layout(found2.nodes);
  const height = (Math.max(...found2.nodes.map(({ tier }) => tier)) + 1) * TIER;
  const worst2 = worstOf(by2, found2.links);
  const open = (sel) => go(href("/map", { by: param("by"), form: param("form"), sel }));
  return a4("figure", { class: "tiers", children: [
    a4("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": `${plural(found2.nodes.length, "node")} in tiers; worst link by ${BYS[by2].name}: ${written(by2, worst2)}. The tables below list the values.`, children: [
      found2.links.map((link) => a4(
        "path",
        {
          class: `link s${step2(by2, link.values[by2])} ${link.id === selected ? "chosen" : ""}`,
          d: curve(link, places),
          "stroke-width": 1 + step2(by2, link.values[by2]) * 0.8,
          "stroke-dasharray": link.certain ? void 0 : "6 4",
          onClick: () => open(link.id),
          children: a4("title", { children: `${node(link.from)} to ${node(link.to)}: ${written(by2, link.values[by2])}` })
        },
        link.id
      )),
      found2.nodes.map((one) => {
        const place2 = places.get(one.id);
        return a4("g", { class: `node ${String(one.id) === selected ? "chosen" : ""} ${one.reportsItself ? "" : "silent"}`, transform: `translate(${place2.x} ${place2.y})`, onClick: () => open(String(one.id)), children: [
          a4("rect", { x: -place2.half, y: -BOX / 2, width: 2 * place2.half, height: BOX, rx: "4" }),
          a4("rect", { class: `mark s${step2(by2, one.values[by2])}`, x: -place2.half, y: BOX / 2, width: 2 * place2.half, height: "6" }),
          a4("text", { "text-anchor": "middle", dy: "5", children: cut(node(one.id), place2.half) }),
          a4("title", { children: `${node(one.id)}, worst interface: ${written(by2, one.values[by2])}` })
        ] }, one.id);
      })
    ] }),
    a4("figcaption", { class: "small muted", children: a4("span", { children: [
      "Nodes:",
      " ",
      found2.nodes.map(({ id }, at) => a4("span", { children: [
        at > 0 && ", ",
        a4("a", { href: href("/map", { by: param("by"), form: param("form"), sel: String(id) }), children: node(id) })
      ] }, id)),
      ". Bar below a node: its worst interface, including those to hosts. Dashed outline: the node sends no reports itself. Dashed link: a node in between may be missing."
    ] }) })
  ] });
}
function layout(nodes2) {
  const top = Math.max(...nodes2.map(({ tier }) => tier));
  const places = new globalThis.Map();
  for (let tier = 0; tier <= top; tier++) {
    const row = nodes2.filter((one) => one.tier === tier).sort((a5, b3) => a5.id - b3.id);
    row.forEach((one, at) => {
      const room = WIDTH / row.length;
      places.set(one.id, { x: room * (at + 0.5), y: (top - tier + 0.5) * TIER, half: Math.min(60, room / 2 - 4) });
    });
  }
  return places;
}
function cut(name, half) {
  const [letters, most] = [[...name], Math.floor(half / 4.6)];
  return letters.length <= most ? name : letters.slice(0, Math.max(0, most - 1)).join("") + "…";
}
function curve(link, places) {
  const [a5, b3] = [places.get(link.from), places.get(link.to)];
  if (!a5 || !b3) return "";
  const bend = 14 + 4 * ((link.egress ?? 0) % 3);
  const [dx, dy] = [b3.x - a5.x, b3.y - a5.y];
  const length = Math.hypot(dx, dy) || 1;
  const side = a5.y === b3.y ? 60 : bend;
  return `M${a5.x} ${a5.y} Q${(a5.x + b3.x) / 2 - dy / length * side} ${(a5.y + b3.y) / 2 + dx / length * side} ${b3.x} ${b3.y}`;
}

// src/views/groups.tsx
var MEMBERS = 200;
function Grouped() {
  const [when, every] = timeAsked();
  const shown2 = by() === "silence" ? "p99" : by();
  const asked = useAsk(`groups ${shown2} ${when}`, (signal) => groups2(shown2, signal), every);
  const of = /^\d{1,10}/.exec(param("sel"))?.[0];
  const one = useAsk(`around ${of} ${when}`, (signal) => of ? fabric(signal, Number(of)) : Promise.resolve(void 0), every);
  return a4($, { children: [
    a4(Answer, { asked, children: (found2) => a4(Shown, { ...found2, by: shown2 }) }),
    of && a4(Answer, { asked: one, children: (found2) => found2 && a4(Selected, { found: found2, selected: param("sel") }) })
  ] });
}
function Shown({ groups: all, fabric: found2, by: key3 }) {
  if (!all.length) return a4(Nothing, {});
  const at = all[Number(param("group") || -1)];
  const name = (id) => all[id].nodes.length > 1 ? shown(all[id].name, 64) : node(all[id].nodes[0]);
  const sorted = all.map((group, id) => ({ ...group, id })).sort((a5, b3) => (b3.value ?? -1) - (a5.value ?? -1));
  const to = (group) => href("/map", { ...kept(), form: "groups", group: String(group) });
  const caption = `${plural(all.length, "group")}, by ${BYS[key3].name}`;
  const isChosen = ({ id }) => String(id) === param("group");
  return a4($, { children: [
    a4(Legend, {}),
    a4("p", { class: "muted", children: [
      plural(counted.value, "node"),
      " in ",
      plural(all.length, "group"),
      ". The nodes of a group have the same neighbours. A group shows its worst value, and the sum of drops and reports."
    ] }),
    a4(Matrix, { found: found2, by: key3, selected: "", node: name, open: (link) => go(to(found2.nodes[link.from].tier > found2.nodes[link.to].tier ? link.to : link.from)) }),
    at && a4("section", { class: "panel", "aria-label": at.name, children: [
      a4("h2", { children: shown(at.name, 64) }),
      a4("p", { class: "members", children: [
        at.nodes.slice(0, MEMBERS).map((id) => a4("a", { href: href("/map", { ...kept(), form: "groups", group: param("group"), sel: String(id) }), children: node(id) }, id)),
        at.nodes.length > MEMBERS && `and ${count(at.nodes.length - MEMBERS)} more`
      ] })
    ] }),
    a4(Table, { caption, rows: sorted, isChosen, open: ({ id }) => to(id), columns: [
      { name: "Group", cell: (group) => a4("a", { href: to(group.id), children: name(group.id) }) },
      { name: "Nodes", isNumber: true, cell: (group) => count(group.nodes.length) },
      { name: BYS[key3].name, isNumber: true, cell: (group) => a4("span", { class: `swatch s${step2(key3, group.value)}`, children: written(key3, group.value) }) },
      { name: "Reported hops", isNumber: true, cell: (group) => count(group.reports) }
    ] })
  ] });
}

// src/views/map.tsx
var MATRIX_FROM = 200;
var GROUPS_FROM = 5e3;
function Map2() {
  const all = Object.keys(BYS);
  useKeys({ b: () => set({ by: all[(all.indexOf(by()) + 1) % all.length] }) });
  const isGrouped = param("form") === "groups" || !param("form") && counted.value > GROUPS_FROM;
  return a4($, { children: [
    a4("h1", { children: "Map" }),
    a4(OnlyPresent, { what: "Links, their latencies and flows, and the counts of a node" }),
    a4("div", { class: "choices", children: [
      a4("label", { children: [
        "Colour by",
        " ",
        a4("select", { "data-filter": true, value: by(), onChange: (event) => set({ by: event.currentTarget.value }), children: all.map((key3) => a4("option", { value: key3, children: BYS[key3].name }, key3)) })
      ] }),
      a4("label", { children: [
        "Layout",
        " ",
        a4("select", { value: param("form"), onChange: (event) => set({ form: event.currentTarget.value || void 0 }), children: [
          a4("option", { value: "", children: "automatic" }),
          a4("option", { children: "tiers" }),
          a4("option", { children: "matrix" }),
          a4("option", { children: "groups" })
        ] })
      ] })
    ] }),
    isGrouped ? a4(Grouped, {}) : a4(Whole, {})
  ] });
}
function Whole() {
  const [when, every] = timeAsked();
  const asked = useAsk("map " + when, fabric, every);
  return a4(Answer, { asked, children: (found2) => a4(Shown2, { found: found2 }) });
}
function Shown2({ found: found2 }) {
  const { nodes: nodes2, links, ports } = found2;
  const isMatrix = param("form") === "matrix" || param("form") !== "tiers" && nodes2.length > MATRIX_FROM;
  const sorted = [...ports].sort((a5, b3) => (b3.values[by()] ?? -1) - (a5.values[by()] ?? -1));
  useCopy(() => sorted.slice(0, 50).map((port2) => `${portName(port2)}  ${shownAt(by(), port2.node, port2.values[by()])}`).join("\n"));
  if (!nodes2.length) return a4(Nothing, {});
  const selected = param("sel");
  const silent = nodes2.filter((one) => !one.reportsItself).length;
  return a4($, { children: [
    a4(Legend, {}),
    a4("p", { class: "muted", children: [
      plural(nodes2.length, "node"),
      ", ",
      plural(links.length, "link"),
      " seen in paths. ",
      silent > 0 && `Nodes seen only in other nodes' reports: ${count(silent)}.`
    ] }),
    isMatrix ? a4(Matrix, { found: found2, by: by(), selected, node, open: (link) => go(href("/map", { ...kept(), sel: link.id })) }) : a4(Tiers, { found: found2, by: by(), selected }),
    a4(Selected, { found: found2, selected }),
    a4(
      Table,
      {
        caption: `${count(Math.min(20, sorted.length))} of ${plural(ports.length, "interface")}, by ${BYS[by()].name}`,
        rows: sorted.slice(0, 20),
        keyOf: portName,
        isChosen: (port2) => port2.link?.id === selected,
        open: (port2) => href("/map", { ...kept(), sel: port2.link?.id ?? String(port2.node) }),
        columns: columns2()
      }
    )
  ] });
}

// src/counts.ts
var begun;
async function oldest(signal) {
  const [first2] = await sql("SELECT min(time) AS t FROM ledger WHERE accepted > 0", signal);
  return first2?.t ? BigInt(first2.t) : void 0;
}
function useCounts() {
  const [when, every] = timeAsked(1e4);
  return useAsk("counts " + when, async (signal) => {
    const { isLive, from: start, to } = range();
    begun ??= await oldest(signal);
    const first2 = begun ?? to - MINUTE;
    const from = first2 > start && first2 < to ? first2 : start;
    const between = `time >= ${from} AND time < ${to}`;
    const levels = to - from <= 2n * MINUTE ? `SELECT bucket(time, ${SECOND}) AS t, max(hop_latency) AS latency, max(queue_occupancy) AS depth, sum(dropped AND hop_index = 0) AS drops FROM observations WHERE ${between} GROUP BY 1 ORDER BY 1` : `SELECT time AS t, max(latency_max) AS latency, max(queue_occupancy_max) AS depth, sum(dropped) AS drops FROM minutes WHERE time >= ${from - MINUTE} AND time < ${to} GROUP BY 1 ORDER BY 1`;
    const ledger = `SELECT time AS t, accepted, lost FROM ledger WHERE node_id IS NULL AND time >= ${from - 20n * SECOND} AND time < ${to} ORDER BY time`;
    const [found2, counted2] = await Promise.all([sql(levels, signal), sql(ledger, signal)]);
    return { when, isLive, from, to, begun, levels: found2, ledger: counted2 };
  }, every);
}
var isKept = ({ isLive, levels, ledger }) => isLive || levels.length > 0 || ledger.length > 0;
var endOf = ({ isLive, to }) => isLive && now() > to ? now() : to;
var seconds = (time) => Number(BigInt(time) / 1000n) / 1e6;
var totalsOf = new WeakMap();
function pastOf(ledger) {
  const known2 = totalsOf.get(ledger);
  if (known2) return known2;
  const past = ledger.map((row) => ({ at: seconds(row.t), accepted: Number(row.accepted), lost: Number(row.lost) }));
  totalsOf.set(ledger, past);
  return past;
}
function balance(counts) {
  const { isLive, from, ledger } = counts;
  const to = endOf(counts);
  const heard = isLive ? history2.map((one) => ({ at: one.at, accepted: one.totals.accepted, lost: one.totals.lost })) : [];
  const fromLive = heard[0]?.at ?? Infinity;
  const past = pastOf(ledger).filter((row) => row.at < fromLive);
  const all = [...past, ...heard].filter((row) => row.at >= seconds(from) - 20 && row.at <= seconds(to));
  const steps = all.slice(1).map((row, at) => ({ ...row, before: all[at] }));
  const counted2 = steps.filter(({ at, accepted, before: before2 }) => accepted >= before2.accepted && at > before2.at);
  return counted2.map(({ at, accepted, lost, before: before2 }) => ({ at, rate: (accepted - before2.accepted) / (at - before2.at), lost: Math.max(0, lost - before2.lost) }));
}
function silence({ from }, steps) {
  const heard = steps.findLast((step3) => step3.rate)?.at ?? seconds(from);
  const silent = (steps.at(-1)?.at ?? 0) - heard;
  return silent > 30 ? silent * 1e9 : 0;
}
var sum = (values) => values.reduce((a5, b3) => a5 + b3, 0);

// node_modules/uplot/dist/uPlot.esm.js
var FEAT_TIME = true;
var pre = "u-";
var UPLOT = "uplot";
var ORI_HZ = pre + "hz";
var ORI_VT = pre + "vt";
var TITLE = pre + "title";
var WRAP = pre + "wrap";
var UNDER = pre + "under";
var OVER = pre + "over";
var AXIS = pre + "axis";
var OFF = pre + "off";
var SELECT = pre + "select";
var CURSOR_X = pre + "cursor-x";
var CURSOR_Y = pre + "cursor-y";
var CURSOR_PT = pre + "cursor-pt";
var LEGEND = pre + "legend";
var LEGEND_LIVE = pre + "live";
var LEGEND_INLINE = pre + "inline";
var LEGEND_SERIES = pre + "series";
var LEGEND_MARKER = pre + "marker";
var LEGEND_LABEL = pre + "label";
var LEGEND_VALUE = pre + "value";
var WIDTH2 = "width";
var HEIGHT = "height";
var TOP = "top";
var BOTTOM = "bottom";
var LEFT = "left";
var RIGHT = "right";
var hexBlack = "#000";
var transparent = hexBlack + "0";
var mousemove = "mousemove";
var mousedown = "mousedown";
var mouseup = "mouseup";
var mouseenter = "mouseenter";
var mouseleave = "mouseleave";
var dblclick = "dblclick";
var resize = "resize";
var scroll = "scroll";
var change2 = "change";
var dppxchange = "dppxchange";
var LEGEND_DISP = "--";
var domEnv = typeof window != "undefined";
var doc = domEnv ? document : null;
var win = domEnv ? window : null;
var nav = domEnv ? navigator : null;
var pxRatio;
var query;
function setPxRatio() {
  let _pxRatio = devicePixelRatio;
  if (pxRatio != _pxRatio) {
    pxRatio = _pxRatio;
    query && off(change2, query, setPxRatio);
    query = matchMedia(`(min-resolution: ${pxRatio - 1e-3}dppx) and (max-resolution: ${pxRatio + 1e-3}dppx)`);
    on(change2, query, setPxRatio);
    win.dispatchEvent(new CustomEvent(dppxchange));
  }
}
function addClass(el, c4) {
  if (c4 != null) {
    let cl = el.classList;
    !cl.contains(c4) && cl.add(c4);
  }
}
function remClass(el, c4) {
  let cl = el.classList;
  cl.contains(c4) && cl.remove(c4);
}
function setStylePx(el, name, value) {
  el.style[name] = value + "px";
}
function placeTag(tag, cls, targ, refEl) {
  let el = doc.createElement(tag);
  if (cls != null)
    addClass(el, cls);
  if (targ != null)
    targ.insertBefore(el, refEl);
  return el;
}
function placeDiv(cls, targ) {
  return placeTag("div", cls, targ);
}
var xformCache = new WeakMap();
function elTrans(el, xPos, yPos, xMax, yMax) {
  let xform = "translate(" + xPos + "px," + yPos + "px)";
  let xformOld = xformCache.get(el);
  if (xform != xformOld) {
    el.style.transform = xform;
    xformCache.set(el, xform);
    if (xPos < 0 || yPos < 0 || xPos > xMax || yPos > yMax)
      addClass(el, OFF);
    else
      remClass(el, OFF);
  }
}
var colorCache = new WeakMap();
function elColor(el, background, borderColor) {
  let newColor = background + borderColor;
  let oldColor = colorCache.get(el);
  if (newColor != oldColor) {
    colorCache.set(el, newColor);
    el.style.background = background;
    el.style.borderColor = borderColor;
  }
}
var sizeCache = new WeakMap();
function elSize(el, newWid, newHgt, centered) {
  let newSize = newWid + "" + newHgt;
  let oldSize = sizeCache.get(el);
  if (newSize != oldSize) {
    sizeCache.set(el, newSize);
    el.style.height = newHgt + "px";
    el.style.width = newWid + "px";
    el.style.marginLeft = centered ? -newWid / 2 + "px" : 0;
    el.style.marginTop = centered ? -newHgt / 2 + "px" : 0;
  }
}
var evOpts = { passive: true };
var evOpts2 = { ...evOpts, capture: true };
function on(ev, el, cb, capt) {
  el.addEventListener(ev, cb, capt ? evOpts2 : evOpts);
}
function off(ev, el, cb, capt) {
  el.removeEventListener(ev, cb, evOpts);
}
domEnv && setPxRatio();
function closestIdx(num, arr, lo, hi) {
  let mid;
  lo = lo || 0;
  hi = hi || arr.length - 1;
  let bitwise = hi <= 2147483647;
  while (hi - lo > 1) {
    mid = bitwise ? lo + hi >> 1 : floor((lo + hi) / 2);
    if (arr[mid] < num)
      lo = mid;
    else
      hi = mid;
  }
  if (num - arr[lo] <= arr[hi] - num)
    return lo;
  return hi;
}
function makeIndexOfs(predicate) {
  let indexOfs = (data, _i0, _i1) => {
    let i0 = -1;
    let i1 = -1;
    for (let i4 = _i0; i4 <= _i1; i4++) {
      if (predicate(data[i4])) {
        i0 = i4;
        break;
      }
    }
    for (let i4 = _i1; i4 >= _i0; i4--) {
      if (predicate(data[i4])) {
        i1 = i4;
        break;
      }
    }
    return [i0, i1];
  };
  return indexOfs;
}
var notNullish = (v4) => v4 != null;
var isPositive = (v4) => v4 != null && v4 > 0;
var nonNullIdxs = makeIndexOfs(notNullish);
var positiveIdxs = makeIndexOfs(isPositive);
function getMinMax(data, _i0, _i1, sorted = 0, log = false) {
  let getEdgeIdxs = log ? positiveIdxs : nonNullIdxs;
  let predicate = log ? isPositive : notNullish;
  [_i0, _i1] = getEdgeIdxs(data, _i0, _i1);
  let _min = data[_i0];
  let _max = data[_i0];
  if (_i0 > -1) {
    if (sorted == 1) {
      _min = data[_i0];
      _max = data[_i1];
    } else if (sorted == -1) {
      _min = data[_i1];
      _max = data[_i0];
    } else {
      for (let i4 = _i0; i4 <= _i1; i4++) {
        let v4 = data[i4];
        if (predicate(v4)) {
          if (v4 < _min)
            _min = v4;
          else if (v4 > _max)
            _max = v4;
        }
      }
    }
  }
  return [_min ?? inf, _max ?? -inf];
}
function rangeLog(min2, max2, base2, fullMags) {
  let minSign = sign(min2);
  let maxSign = sign(max2);
  if (min2 == max2) {
    if (minSign == -1) {
      min2 *= base2;
      max2 /= base2;
    } else {
      min2 /= base2;
      max2 *= base2;
    }
  }
  let logFn = base2 == 10 ? log10 : log2;
  let growMinAbs = minSign == 1 ? floor : ceil;
  let growMaxAbs = maxSign == 1 ? ceil : floor;
  let minExp = growMinAbs(logFn(abs(min2)));
  let maxExp = growMaxAbs(logFn(abs(max2)));
  let minIncr = pow(base2, minExp);
  let maxIncr = pow(base2, maxExp);
  if (base2 == 10) {
    if (minExp < 0)
      minIncr = roundDec(minIncr, -minExp);
    if (maxExp < 0)
      maxIncr = roundDec(maxIncr, -maxExp);
  }
  if (fullMags || base2 == 2) {
    min2 = minIncr * minSign;
    max2 = maxIncr * maxSign;
  } else {
    min2 = incrRoundDn(min2, minIncr);
    max2 = incrRoundUp(max2, maxIncr);
  }
  return [min2, max2];
}
function rangeAsinh(min2, max2, base2, fullMags) {
  let minMax = rangeLog(min2, max2, base2, fullMags);
  if (min2 == 0)
    minMax[0] = 0;
  if (max2 == 0)
    minMax[1] = 0;
  return minMax;
}
var rangePad = 0.1;
var autoRangePart = {
  mode: 3,
  pad: rangePad
};
var _eqRangePart = {
  pad: 0,
  soft: null,
  mode: 0
};
var _eqRange = {
  min: _eqRangePart,
  max: _eqRangePart
};
function rangeNum(_min, _max, mult, extra) {
  if (isObj(mult))
    return _rangeNum(_min, _max, mult);
  _eqRangePart.pad = mult;
  _eqRangePart.soft = extra ? 0 : null;
  _eqRangePart.mode = extra ? 3 : 0;
  return _rangeNum(_min, _max, _eqRange);
}
function ifNull(lh, rh) {
  return lh == null ? rh : lh;
}
function hasData(data, idx0, idx1) {
  idx0 = ifNull(idx0, 0);
  idx1 = ifNull(idx1, data.length - 1);
  while (idx0 <= idx1) {
    if (data[idx0] != null)
      return true;
    idx0++;
  }
  return false;
}
function _rangeNum(_min, _max, cfg) {
  let cmin = cfg.min;
  let cmax = cfg.max;
  let padMin = ifNull(cmin.pad, 0);
  let padMax = ifNull(cmax.pad, 0);
  let hardMin = ifNull(cmin.hard, -inf);
  let hardMax = ifNull(cmax.hard, inf);
  let softMin = ifNull(cmin.soft, inf);
  let softMax = ifNull(cmax.soft, -inf);
  let softMinMode = ifNull(cmin.mode, 0);
  let softMaxMode = ifNull(cmax.mode, 0);
  let delta = _max - _min;
  let deltaMag = log10(delta);
  let scalarMax = max(abs(_min), abs(_max));
  let scalarMag = log10(scalarMax);
  let scalarMagDelta = abs(scalarMag - deltaMag);
  if (delta < 1e-24 || scalarMagDelta > 10) {
    delta = 0;
    if (_min == 0 || _max == 0) {
      delta = 1e-24;
      if (softMinMode == 2 && softMin != inf)
        padMin = 0;
      if (softMaxMode == 2 && softMax != -inf)
        padMax = 0;
    }
  }
  let nonZeroDelta = delta || scalarMax || 1e3;
  let mag = log10(nonZeroDelta);
  let base2 = pow(10, floor(mag));
  let _padMin = nonZeroDelta * (delta == 0 ? _min == 0 ? 0.1 : 1 : padMin);
  let _newMin = roundDec(incrRoundDn(_min - _padMin, base2 / 10), 24);
  let _softMin = _min >= softMin && (softMinMode == 1 || softMinMode == 3 && _newMin <= softMin || softMinMode == 2 && _newMin >= softMin) ? softMin : inf;
  let minLim = max(hardMin, _newMin < _softMin && _min >= _softMin ? _softMin : min(_softMin, _newMin));
  let _padMax = nonZeroDelta * (delta == 0 ? _max == 0 ? 0.1 : 1 : padMax);
  let _newMax = roundDec(incrRoundUp(_max + _padMax, base2 / 10), 24);
  let _softMax = _max <= softMax && (softMaxMode == 1 || softMaxMode == 3 && _newMax >= softMax || softMaxMode == 2 && _newMax <= softMax) ? softMax : -inf;
  let maxLim = min(hardMax, _newMax > _softMax && _max <= _softMax ? _softMax : max(_softMax, _newMax));
  if (minLim == maxLim && minLim == 0)
    maxLim = 100;
  return [minLim, maxLim];
}
var numFormatter = new Intl.NumberFormat(domEnv ? nav.language : "en-US");
var fmtNum = (val) => numFormatter.format(val);
var M2 = Math;
var PI = M2.PI;
var abs = M2.abs;
var floor = M2.floor;
var round = M2.round;
var ceil = M2.ceil;
var min = M2.min;
var max = M2.max;
var pow = M2.pow;
var sign = M2.sign;
var log10 = M2.log10;
var log2 = M2.log2;
var sinh = (v4, linthresh = 1) => M2.sinh(v4) * linthresh;
var asinh = (v4, linthresh = 1) => M2.asinh(v4 / linthresh);
var inf = Infinity;
function numIntDigits(x3) {
  return (log10((x3 ^ x3 >> 31) - (x3 >> 31)) | 0) + 1;
}
function clamp(num, _min, _max) {
  return min(max(num, _min), _max);
}
function isFn(v4) {
  return typeof v4 == "function";
}
function fnOrSelf(v4) {
  return isFn(v4) ? v4 : () => v4;
}
var noop = () => {
};
var retArg0 = (_0) => _0;
var retArg1 = (_0, _1) => _1;
var retNull = (_5) => null;
var retTrue = (_5) => true;
var retEq = (a5, b3) => a5 == b3;
var regex6 = /\.\d*?(?=9{6,}|0{6,})/gm;
var fixFloat = (val) => {
  if (isInt(val) || fixedDec.has(val))
    return val;
  const str = `${val}`;
  const match = str.match(regex6);
  if (match == null)
    return val;
  let len = match[0].length - 1;
  if (str.indexOf("e-") != -1) {
    let [num, exp] = str.split("e");
    return +`${fixFloat(num)}e${exp}`;
  }
  return roundDec(val, len);
};
function incrRound(num, incr) {
  return fixFloat(roundDec(fixFloat(num / incr)) * incr);
}
function incrRoundUp(num, incr) {
  return fixFloat(ceil(fixFloat(num / incr)) * incr);
}
function incrRoundDn(num, incr) {
  return fixFloat(floor(fixFloat(num / incr)) * incr);
}
function roundDec(val, dec = 0) {
  if (isInt(val))
    return val;
  let p5 = 10 ** dec;
  let n3 = val * p5 * (1 + Number.EPSILON);
  return round(n3) / p5;
}
var fixedDec = new Map();
function guessDec(num) {
  return (("" + num).split(".")[1] || "").length;
}
function genIncrs(base2, minExp, maxExp, mults) {
  let incrs = [];
  let multDec = mults.map(guessDec);
  for (let exp = minExp; exp < maxExp; exp++) {
    let expa = abs(exp);
    let mag = roundDec(pow(base2, exp), expa);
    for (let i4 = 0; i4 < mults.length; i4++) {
      let _incr = base2 == 10 ? +`${mults[i4]}e${exp}` : mults[i4] * mag;
      let dec = (exp >= 0 ? 0 : expa) + (exp >= multDec[i4] ? 0 : multDec[i4]);
      let incr = base2 == 10 ? _incr : roundDec(_incr, dec);
      incrs.push(incr);
      fixedDec.set(incr, dec);
    }
  }
  return incrs;
}
var EMPTY_OBJ = {};
var EMPTY_ARR = [];
var nullNullTuple = [null, null];
var isArr = Array.isArray;
var isInt = Number.isInteger;
var isUndef = (v4) => v4 === void 0;
function isStr(v4) {
  return typeof v4 == "string";
}
function isObj(v4) {
  let is = false;
  if (v4 != null) {
    let c4 = v4.constructor;
    is = c4 == null || c4 == Object;
  }
  return is;
}
function fastIsObj(v4) {
  return v4 != null && typeof v4 == "object";
}
var TypedArray = Object.getPrototypeOf(Uint8Array);
var __proto__ = "__proto__";
function copy2(o5, _isObj = isObj) {
  let out;
  if (isArr(o5)) {
    let val = o5.find((v4) => v4 != null);
    if (isArr(val) || _isObj(val)) {
      out = Array(o5.length);
      for (let i4 = 0; i4 < o5.length; i4++)
        out[i4] = copy2(o5[i4], _isObj);
    } else
      out = o5.slice();
  } else if (o5 instanceof TypedArray)
    out = o5.slice();
  else if (_isObj(o5)) {
    out = {};
    for (let k4 in o5) {
      if (k4 != __proto__)
        out[k4] = copy2(o5[k4], _isObj);
    }
  } else
    out = o5;
  return out;
}
function assign(targ) {
  let args = arguments;
  for (let i4 = 1; i4 < args.length; i4++) {
    let src = args[i4];
    for (let key3 in src) {
      if (key3 != __proto__) {
        if (isObj(targ[key3]))
          assign(targ[key3], copy2(src[key3]));
        else
          targ[key3] = copy2(src[key3]);
      }
    }
  }
  return targ;
}
var NULL_REMOVE = 0;
var NULL_RETAIN = 1;
var NULL_EXPAND = 2;
function nullExpand(yVals, nullIdxs, alignedLen) {
  for (let i4 = 0, xi, lastNullIdx = -1; i4 < nullIdxs.length; i4++) {
    let nullIdx = nullIdxs[i4];
    if (nullIdx > lastNullIdx) {
      xi = nullIdx - 1;
      while (xi >= 0 && yVals[xi] == null)
        yVals[xi--] = null;
      xi = nullIdx + 1;
      while (xi < alignedLen && yVals[xi] == null)
        yVals[lastNullIdx = xi++] = null;
    }
  }
}
function join(tables2, nullModes) {
  if (allHeadersSame(tables2)) {
    let table = tables2[0].slice();
    for (let i4 = 1; i4 < tables2.length; i4++)
      table.push(...tables2[i4].slice(1));
    if (!isAsc(table[0]))
      table = sortCols(table);
    return table;
  }
  let xVals = new Set();
  for (let ti = 0; ti < tables2.length; ti++) {
    let t4 = tables2[ti];
    let xs = t4[0];
    let len = xs.length;
    for (let i4 = 0; i4 < len; i4++)
      xVals.add(xs[i4]);
  }
  let data = [Array.from(xVals).sort((a5, b3) => a5 - b3)];
  let alignedLen = data[0].length;
  let xIdxs = new Map();
  for (let i4 = 0; i4 < alignedLen; i4++)
    xIdxs.set(data[0][i4], i4);
  for (let ti = 0; ti < tables2.length; ti++) {
    let t4 = tables2[ti];
    let xs = t4[0];
    for (let si = 1; si < t4.length; si++) {
      let ys = t4[si];
      let yVals = Array(alignedLen).fill(void 0);
      let nullMode = nullModes ? nullModes[ti][si] : NULL_RETAIN;
      let nullIdxs = [];
      for (let i4 = 0; i4 < ys.length; i4++) {
        let yVal = ys[i4];
        let alignedIdx = xIdxs.get(xs[i4]);
        if (yVal === null) {
          if (nullMode != NULL_REMOVE) {
            yVals[alignedIdx] = yVal;
            if (nullMode == NULL_EXPAND)
              nullIdxs.push(alignedIdx);
          }
        } else
          yVals[alignedIdx] = yVal;
      }
      nullExpand(yVals, nullIdxs, alignedLen);
      data.push(yVals);
    }
  }
  return data;
}
var microTask = typeof queueMicrotask == "undefined" ? (fn) => Promise.resolve().then(fn) : queueMicrotask;
function sortCols(table) {
  let head = table[0];
  let rlen = head.length;
  let idxs = Array(rlen);
  for (let i4 = 0; i4 < idxs.length; i4++)
    idxs[i4] = i4;
  idxs.sort((i0, i1) => head[i0] - head[i1]);
  let table2 = [];
  for (let i4 = 0; i4 < table.length; i4++) {
    let row = table[i4];
    let row2 = Array(rlen);
    for (let j3 = 0; j3 < rlen; j3++)
      row2[j3] = row[idxs[j3]];
    table2.push(row2);
  }
  return table2;
}
function allHeadersSame(tables2) {
  let vals0 = tables2[0][0];
  let len0 = vals0.length;
  for (let i4 = 1; i4 < tables2.length; i4++) {
    let vals1 = tables2[i4][0];
    if (vals1.length != len0)
      return false;
    if (vals1 != vals0) {
      for (let j3 = 0; j3 < len0; j3++) {
        if (vals1[j3] != vals0[j3])
          return false;
      }
    }
  }
  return true;
}
function isAsc(vals, samples2 = 100) {
  const len = vals.length;
  if (len <= 1)
    return true;
  let firstIdx = 0;
  let lastIdx = len - 1;
  while (firstIdx <= lastIdx && vals[firstIdx] == null)
    firstIdx++;
  while (lastIdx >= firstIdx && vals[lastIdx] == null)
    lastIdx--;
  if (lastIdx <= firstIdx)
    return true;
  const stride = max(1, floor((lastIdx - firstIdx + 1) / samples2));
  for (let prevVal = vals[firstIdx], i4 = firstIdx + stride; i4 <= lastIdx; i4 += stride) {
    const v4 = vals[i4];
    if (v4 != null) {
      if (v4 <= prevVal)
        return false;
      prevVal = v4;
    }
  }
  return true;
}
var months = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December"
];
var days = [
  "Sunday",
  "Monday",
  "Tuesday",
  "Wednesday",
  "Thursday",
  "Friday",
  "Saturday"
];
function slice3(str) {
  return str.slice(0, 3);
}
var days3 = days.map(slice3);
var months3 = months.map(slice3);
var engNames = {
  MMMM: months,
  MMM: months3,
  WWWW: days,
  WWW: days3
};
function zeroPad2(int) {
  return (int < 10 ? "0" : "") + int;
}
function zeroPad3(int) {
  return (int < 10 ? "00" : int < 100 ? "0" : "") + int;
}
var subs = {
  // 2019
  YYYY: (d5) => d5.getFullYear(),
  // 19
  YY: (d5) => (d5.getFullYear() + "").slice(2),
  // July
  MMMM: (d5, names) => names.MMMM[d5.getMonth()],
  // Jul
  MMM: (d5, names) => names.MMM[d5.getMonth()],
  // 07
  MM: (d5) => zeroPad2(d5.getMonth() + 1),
  // 7
  M: (d5) => d5.getMonth() + 1,
  // 09
  DD: (d5) => zeroPad2(d5.getDate()),
  // 9
  D: (d5) => d5.getDate(),
  // Monday
  WWWW: (d5, names) => names.WWWW[d5.getDay()],
  // Mon
  WWW: (d5, names) => names.WWW[d5.getDay()],
  // 03
  HH: (d5) => zeroPad2(d5.getHours()),
  // 3
  H: (d5) => d5.getHours(),
  // 9 (12hr, unpadded)
  h: (d5) => {
    let h5 = d5.getHours();
    return h5 == 0 ? 12 : h5 > 12 ? h5 - 12 : h5;
  },
  // AM
  AA: (d5) => d5.getHours() >= 12 ? "PM" : "AM",
  // am
  aa: (d5) => d5.getHours() >= 12 ? "pm" : "am",
  // a
  a: (d5) => d5.getHours() >= 12 ? "p" : "a",
  // 09
  mm: (d5) => zeroPad2(d5.getMinutes()),
  // 9
  m: (d5) => d5.getMinutes(),
  // 09
  ss: (d5) => zeroPad2(d5.getSeconds()),
  // 9
  s: (d5) => d5.getSeconds(),
  // 374
  fff: (d5) => zeroPad3(d5.getMilliseconds())
};
function fmtDate(tpl, names) {
  names = names || engNames;
  let parts = [];
  let R = /\{([a-z]+)\}|[^{]+/gi, m5;
  while (m5 = R.exec(tpl))
    parts.push(m5[0][0] == "{" ? subs[m5[1]] : m5[0]);
  return (d5) => {
    let out = "";
    for (let i4 = 0; i4 < parts.length; i4++)
      out += typeof parts[i4] == "string" ? parts[i4] : parts[i4](d5, names);
    return out;
  };
}
var localTz = new Intl.DateTimeFormat().resolvedOptions().timeZone;
function tzDate(date2, tz) {
  let date22;
  if (tz == "UTC" || tz == "Etc/UTC")
    date22 = new Date(+date2 + date2.getTimezoneOffset() * 6e4);
  else if (tz == localTz)
    date22 = date2;
  else {
    date22 = new Date(date2.toLocaleString("en-US", { timeZone: tz }));
    date22.setMilliseconds(date2.getMilliseconds());
  }
  return date22;
}
var onlyWhole = (v4) => v4 % 1 == 0;
var allMults = [1, 2, 2.5, 5];
var decIncrs = genIncrs(10, -32, 0, allMults);
var oneIncrs = genIncrs(10, 0, 32, allMults);
var wholeIncrs = oneIncrs.filter(onlyWhole);
var numIncrs = decIncrs.concat(oneIncrs);
var NL = "\n";
var yyyy = "{YYYY}";
var NLyyyy = NL + yyyy;
var md = "{M}/{D}";
var NLmd = NL + md;
var NLmdyy = NLmd + "/{YY}";
var aa = "{aa}";
var hmm = "{h}:{mm}";
var hmmaa = hmm + aa;
var NLhmmaa = NL + hmmaa;
var ss = ":{ss}";
var _4 = null;
function genTimeStuffs(ms) {
  let s4 = ms * 1e3, m5 = s4 * 60, h5 = m5 * 60, d5 = h5 * 24, mo = d5 * 30, y5 = d5 * 365;
  let subSecIncrs = ms == 1 ? genIncrs(10, 0, 3, allMults).filter(onlyWhole) : genIncrs(10, -3, 0, allMults);
  let timeIncrs = subSecIncrs.concat([
    // minute divisors (# of secs)
    s4,
    s4 * 5,
    s4 * 10,
    s4 * 15,
    s4 * 30,
    // hour divisors (# of mins)
    m5,
    m5 * 5,
    m5 * 10,
    m5 * 15,
    m5 * 30,
    // day divisors (# of hrs)
    h5,
    h5 * 2,
    h5 * 3,
    h5 * 4,
    h5 * 6,
    h5 * 8,
    h5 * 12,
    // month divisors TODO: need more?
    d5,
    d5 * 2,
    d5 * 3,
    d5 * 4,
    d5 * 5,
    d5 * 6,
    d5 * 7,
    d5 * 8,
    d5 * 9,
    d5 * 10,
    d5 * 15,
    // year divisors (# months, approx)
    mo,
    mo * 2,
    mo * 3,
    mo * 4,
    mo * 6,
    // century divisors
    y5,
    y5 * 2,
    y5 * 5,
    y5 * 10,
    y5 * 25,
    y5 * 50,
    y5 * 100
  ]);
  const _timeAxisStamps = [
    //   tick incr    default          year                    month   day                   hour    min       sec   mode
    [y5, yyyy, _4, _4, _4, _4, _4, _4, 1],
    [d5 * 28, "{MMM}", NLyyyy, _4, _4, _4, _4, _4, 1],
    [d5, md, NLyyyy, _4, _4, _4, _4, _4, 1],
    [h5, "{h}" + aa, NLmdyy, _4, NLmd, _4, _4, _4, 1],
    [m5, hmmaa, NLmdyy, _4, NLmd, _4, _4, _4, 1],
    [s4, ss, NLmdyy + " " + hmmaa, _4, NLmd + " " + hmmaa, _4, NLhmmaa, _4, 1],
    [ms, ss + ".{fff}", NLmdyy + " " + hmmaa, _4, NLmd + " " + hmmaa, _4, NLhmmaa, _4, 1]
  ];
  function timeAxisSplits(tzDate2) {
    return (self, axisIdx, scaleMin, scaleMax, foundIncr, foundSpace) => {
      let splits = [];
      let isYr = foundIncr >= y5;
      let isMo = foundIncr >= mo && foundIncr < y5;
      let minDate = tzDate2(scaleMin);
      let minDateTs = roundDec(minDate * ms, 3);
      let minMin = mkDate(minDate.getFullYear(), isYr ? 0 : minDate.getMonth(), isMo || isYr ? 1 : minDate.getDate());
      let minMinTs = roundDec(minMin * ms, 3);
      if (isMo || isYr) {
        let moIncr = isMo ? foundIncr / mo : 0;
        let yrIncr = isYr ? foundIncr / y5 : 0;
        let split = minDateTs == minMinTs ? minDateTs : roundDec(mkDate(minMin.getFullYear() + yrIncr, minMin.getMonth() + moIncr, 1) * ms, 3);
        let splitDate = new Date(round(split / ms));
        let baseYear = splitDate.getFullYear();
        let baseMonth = splitDate.getMonth();
        for (let i4 = 0; split <= scaleMax; i4++) {
          let next2 = mkDate(baseYear + yrIncr * i4, baseMonth + moIncr * i4, 1);
          let offs = next2 - tzDate2(roundDec(next2 * ms, 3));
          split = roundDec((+next2 + offs) * ms, 3);
          if (split <= scaleMax)
            splits.push(split);
        }
      } else {
        let incr0 = foundIncr >= d5 ? d5 : foundIncr;
        let tzOffset = floor(scaleMin) - floor(minDateTs);
        let split = minMinTs + tzOffset + incrRoundUp(minDateTs - minMinTs, incr0);
        splits.push(split);
        let date0 = tzDate2(split);
        let prevHour = date0.getHours() + date0.getMinutes() / m5 + date0.getSeconds() / h5;
        let incrHours = foundIncr / h5;
        let minSpace = self.axes[axisIdx]._space;
        let pctSpace = foundSpace / minSpace;
        while (1) {
          split = roundDec(split + foundIncr, ms == 1 ? 0 : 3);
          if (split > scaleMax)
            break;
          if (incrHours > 1) {
            let expectedHour = floor(roundDec(prevHour + incrHours, 6)) % 24;
            let splitDate = tzDate2(split);
            let actualHour = splitDate.getHours();
            let dstShift = actualHour - expectedHour;
            if (dstShift > 1)
              dstShift = -1;
            split -= dstShift * h5;
            prevHour = (prevHour + incrHours) % 24;
            let prevSplit = splits[splits.length - 1];
            let pctIncr = roundDec((split - prevSplit) / foundIncr, 3);
            if (pctIncr * pctSpace >= 0.7)
              splits.push(split);
          } else
            splits.push(split);
        }
      }
      return splits;
    };
  }
  return [
    timeIncrs,
    _timeAxisStamps,
    timeAxisSplits
  ];
}
var [timeIncrsMs, _timeAxisStampsMs, timeAxisSplitsMs] = genTimeStuffs(1);
var [timeIncrsS, _timeAxisStampsS, timeAxisSplitsS] = genTimeStuffs(1e-3);
genIncrs(2, -53, 53, [1]);
function timeAxisStamps(stampCfg, fmtDate2) {
  return stampCfg.map((s4) => s4.map(
    (v4, i4) => i4 == 0 || i4 == 8 || v4 == null ? v4 : fmtDate2(i4 == 1 || s4[8] == 0 ? v4 : s4[1] + v4)
  ));
}
function timeAxisVals(tzDate2, stamps) {
  return (self, splits, axisIdx, foundSpace, foundIncr) => {
    let s4 = stamps.find((s5) => foundIncr >= s5[0]) || stamps[stamps.length - 1];
    let prevYear;
    let prevMnth;
    let prevDate;
    let prevHour;
    let prevMins;
    let prevSecs;
    return splits.map((split) => {
      let date2 = tzDate2(split);
      let newYear = date2.getFullYear();
      let newMnth = date2.getMonth();
      let newDate = date2.getDate();
      let newHour = date2.getHours();
      let newMins = date2.getMinutes();
      let newSecs = date2.getSeconds();
      let stamp = newYear != prevYear && s4[2] || newMnth != prevMnth && s4[3] || newDate != prevDate && s4[4] || newHour != prevHour && s4[5] || newMins != prevMins && s4[6] || newSecs != prevSecs && s4[7] || s4[1];
      prevYear = newYear;
      prevMnth = newMnth;
      prevDate = newDate;
      prevHour = newHour;
      prevMins = newMins;
      prevSecs = newSecs;
      return stamp(date2);
    });
  };
}
function timeAxisVal(tzDate2, dateTpl) {
  let stamp = fmtDate(dateTpl);
  return (self, splits, axisIdx, foundSpace, foundIncr) => splits.map((split) => stamp(tzDate2(split)));
}
function mkDate(y5, m5, d5) {
  return new Date(y5, m5, d5);
}
function timeSeriesStamp(stampCfg, fmtDate2) {
  return fmtDate2(stampCfg);
}
var _timeSeriesStamp = "{YYYY}-{MM}-{DD} {h}:{mm}{aa}";
function timeSeriesVal(tzDate2, stamp) {
  return (self, val, seriesIdx, dataIdx) => dataIdx == null ? LEGEND_DISP : stamp(tzDate2(val));
}
function legendStroke(self, seriesIdx) {
  let s4 = self.series[seriesIdx];
  return s4.width ? s4.stroke(self, seriesIdx) : s4.points.width ? s4.points.stroke(self, seriesIdx) : null;
}
function legendFill(self, seriesIdx) {
  return self.series[seriesIdx].fill(self, seriesIdx);
}
var legendOpts = {
  show: true,
  live: true,
  isolate: false,
  mount: noop,
  markers: {
    show: true,
    width: 2,
    stroke: legendStroke,
    fill: legendFill,
    dash: "solid"
  },
  idx: null,
  idxs: null,
  values: []
};
function cursorPointShow(self, si) {
  let o5 = self.cursor.points;
  let pt = placeDiv();
  let size = o5.size(self, si);
  setStylePx(pt, WIDTH2, size);
  setStylePx(pt, HEIGHT, size);
  let mar = size / -2;
  setStylePx(pt, "marginLeft", mar);
  setStylePx(pt, "marginTop", mar);
  let width = o5.width(self, si, size);
  width && setStylePx(pt, "borderWidth", width);
  return pt;
}
function cursorPointFill(self, si) {
  let sp = self.series[si].points;
  return sp._fill || sp._stroke;
}
function cursorPointStroke(self, si) {
  let sp = self.series[si].points;
  return sp._stroke || sp._fill;
}
function cursorPointSize(self, si) {
  let sp = self.series[si].points;
  return sp.size;
}
var moveTuple = [0, 0];
function cursorMove(self, mouseLeft1, mouseTop1) {
  moveTuple[0] = mouseLeft1;
  moveTuple[1] = mouseTop1;
  return moveTuple;
}
function filtBtn0(self, targ, handle, onlyTarg = true) {
  return (e4) => {
    e4.button == 0 && (!onlyTarg || e4.target == targ) && handle(e4);
  };
}
function filtTarg(self, targ, handle, onlyTarg = true) {
  return (e4) => {
    (!onlyTarg || e4.target == targ) && handle(e4);
  };
}
var cursorOpts = {
  show: true,
  x: true,
  y: true,
  lock: false,
  move: cursorMove,
  points: {
    one: false,
    show: cursorPointShow,
    size: cursorPointSize,
    width: 0,
    stroke: cursorPointStroke,
    fill: cursorPointFill
  },
  bind: {
    mousedown: filtBtn0,
    mouseup: filtBtn0,
    click: filtBtn0,
    // legend clicks, not .u-over clicks
    dblclick: filtBtn0,
    mousemove: filtTarg,
    mouseleave: filtTarg,
    mouseenter: filtTarg
  },
  drag: {
    setScale: true,
    x: true,
    y: false,
    dist: 0,
    uni: null,
    click: (self, e4) => {
      e4.stopPropagation();
      e4.stopImmediatePropagation();
    },
    _x: false,
    _y: false
  },
  focus: {
    dist: (self, seriesIdx, dataIdx, valPos, curPos) => valPos - curPos,
    prox: -1,
    bias: 0
  },
  hover: {
    skip: [void 0],
    prox: null,
    bias: 0
  },
  left: -10,
  top: -10,
  idx: null,
  dataIdx: null,
  idxs: null,
  event: null
};
var axisLines = {
  show: true,
  stroke: "rgba(0,0,0,0.07)",
  width: 2
  //	dash: [],
};
var grid = assign({}, axisLines, {
  filter: retArg1
});
var ticks = assign({}, grid, {
  size: 10
});
var border = assign({}, axisLines, {
  show: false
});
var font = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "Noto Sans", sans-serif, "Apple Color Emoji", "Segoe UI Emoji", "Segoe UI Symbol", "Noto Color Emoji"';
var labelFont = "bold " + font;
var lineGap = 1.5;
var xAxisOpts = {
  show: true,
  scale: "x",
  stroke: hexBlack,
  space: 50,
  gap: 5,
  alignTo: 1,
  size: 50,
  labelGap: 0,
  labelSize: 30,
  labelFont,
  side: 2,
  //	class: "x-vals",
  //	incrs: timeIncrs,
  //	values: timeVals,
  //	filter: retArg1,
  grid,
  ticks,
  border,
  font,
  lineGap,
  rotate: 0
};
var numSeriesLabel = "Value";
var timeSeriesLabel = "Time";
var xSeriesOpts = {
  show: true,
  scale: "x",
  auto: false,
  sorted: 1,
  //	label: "Time",
  //	value: v => stamp(new Date(v * 1e3)),
  // internal caches
  min: inf,
  max: -inf,
  idxs: []
};
function numAxisVals(self, splits, axisIdx, foundSpace, foundIncr) {
  return splits.map((v4) => v4 == null ? "" : fmtNum(v4));
}
function numAxisSplits(self, axisIdx, scaleMin, scaleMax, foundIncr, foundSpace, forceMin) {
  let splits = [];
  let numDec = fixedDec.get(foundIncr) || 0;
  scaleMin = forceMin ? scaleMin : roundDec(incrRoundUp(scaleMin, foundIncr), numDec);
  for (let val = scaleMin; val <= scaleMax; val = roundDec(val + foundIncr, numDec))
    splits.push(Object.is(val, -0) ? 0 : val);
  return splits;
}
function logAxisSplits(self, axisIdx, scaleMin, scaleMax, foundIncr, foundSpace, forceMin) {
  const splits = [];
  const logBase = self.scales[self.axes[axisIdx].scale].log;
  const logFn = logBase == 10 ? log10 : log2;
  const exp = floor(logFn(scaleMin));
  foundIncr = pow(logBase, exp);
  if (logBase == 10)
    foundIncr = numIncrs[closestIdx(foundIncr, numIncrs)];
  let split = scaleMin;
  let nextMagIncr = foundIncr * logBase;
  if (logBase == 10)
    nextMagIncr = numIncrs[closestIdx(nextMagIncr, numIncrs)];
  do {
    splits.push(split);
    split = split + foundIncr;
    if (logBase == 10 && !fixedDec.has(split))
      split = roundDec(split, fixedDec.get(foundIncr));
    if (split >= nextMagIncr) {
      foundIncr = split;
      nextMagIncr = foundIncr * logBase;
      if (logBase == 10)
        nextMagIncr = numIncrs[closestIdx(nextMagIncr, numIncrs)];
    }
  } while (split <= scaleMax);
  return splits;
}
function asinhAxisSplits(self, axisIdx, scaleMin, scaleMax, foundIncr, foundSpace, forceMin) {
  let sc = self.scales[self.axes[axisIdx].scale];
  let linthresh = sc.asinh;
  let posSplits = scaleMax > linthresh ? logAxisSplits(self, axisIdx, max(linthresh, scaleMin), scaleMax, foundIncr) : [linthresh];
  let zero = scaleMax >= 0 && scaleMin <= 0 ? [0] : [];
  let negSplits = scaleMin < -linthresh ? logAxisSplits(self, axisIdx, max(linthresh, -scaleMax), -scaleMin, foundIncr) : [linthresh];
  return negSplits.reverse().map((v4) => -v4).concat(zero, posSplits);
}
var RE_ALL = /./;
var RE_12357 = /[12357]/;
var RE_125 = /[125]/;
var RE_1 = /1/;
var _filt = (splits, distr, re, keepMod) => splits.map((v4, i4) => distr == 4 && v4 == 0 || i4 % keepMod == 0 && re.test(v4.toExponential()[v4 < 0 ? 1 : 0]) ? v4 : null);
function log10AxisValsFilt(self, splits, axisIdx, foundSpace, foundIncr) {
  let axis = self.axes[axisIdx];
  let scaleKey = axis.scale;
  let sc = self.scales[scaleKey];
  let valToPos = self.valToPos;
  let minSpace = axis._space;
  let _10 = valToPos(10, scaleKey);
  let re = valToPos(9, scaleKey) - _10 >= minSpace ? RE_ALL : valToPos(7, scaleKey) - _10 >= minSpace ? RE_12357 : valToPos(5, scaleKey) - _10 >= minSpace ? RE_125 : RE_1;
  if (re == RE_1) {
    let magSpace = abs(valToPos(1, scaleKey) - _10);
    if (magSpace < minSpace)
      return _filt(splits.slice().reverse(), sc.distr, re, ceil(minSpace / magSpace)).reverse();
  }
  return _filt(splits, sc.distr, re, 1);
}
function log2AxisValsFilt(self, splits, axisIdx, foundSpace, foundIncr) {
  let axis = self.axes[axisIdx];
  let scaleKey = axis.scale;
  let minSpace = axis._space;
  let valToPos = self.valToPos;
  let magSpace = abs(valToPos(1, scaleKey) - valToPos(2, scaleKey));
  if (magSpace < minSpace)
    return _filt(splits.slice().reverse(), 3, RE_ALL, ceil(minSpace / magSpace)).reverse();
  return splits;
}
function numSeriesVal(self, val, seriesIdx, dataIdx) {
  return dataIdx == null ? LEGEND_DISP : val == null ? "" : fmtNum(val);
}
var yAxisOpts = {
  show: true,
  scale: "y",
  stroke: hexBlack,
  space: 30,
  gap: 5,
  alignTo: 1,
  size: 50,
  labelGap: 0,
  labelSize: 30,
  labelFont,
  side: 3,
  //	class: "y-vals",
  //	incrs: numIncrs,
  //	values: (vals, space) => vals,
  //	filter: retArg1,
  grid,
  ticks,
  border,
  font,
  lineGap,
  rotate: 0
};
function ptDia(width, mult) {
  let dia = 3 + (width || 1) * 2;
  return roundDec(dia * mult, 3);
}
function seriesPointsShow(self, si) {
  let { scale, idxs } = self.series[0];
  let xData = self._data[0];
  let p0 = self.valToPos(xData[idxs[0]], scale, true);
  let p1 = self.valToPos(xData[idxs[1]], scale, true);
  let dim = abs(p1 - p0);
  let s4 = self.series[si];
  let maxPts = dim / (s4.points.space * pxRatio);
  return idxs[1] - idxs[0] <= maxPts;
}
var facet = {
  scale: null,
  auto: true,
  sorted: 0,
  // internal caches
  min: inf,
  max: -inf
};
var gaps = (self, seriesIdx, idx0, idx1, nullGaps) => nullGaps;
var xySeriesOpts = {
  show: true,
  auto: true,
  sorted: 0,
  gaps,
  alpha: 1,
  facets: [
    assign({}, facet, { scale: "x" }),
    assign({}, facet, { scale: "y" })
  ]
};
var ySeriesOpts = {
  scale: "y",
  auto: true,
  sorted: 0,
  show: true,
  spanGaps: false,
  gaps,
  alpha: 1,
  points: {
    show: seriesPointsShow,
    filter: null
    //  paths:
    //	stroke: "#000",
    //	fill: "#fff",
    //	width: 1,
    //	size: 10,
  },
  //	label: "Value",
  //	value: v => v,
  values: null,
  // internal caches
  min: inf,
  max: -inf,
  idxs: [],
  path: null,
  clip: null
};
function clampScale(self, val, scaleMin, scaleMax, scaleKey) {
  return scaleMin / 10;
}
var xScaleOpts = {
  time: FEAT_TIME,
  auto: true,
  distr: 1,
  log: 10,
  asinh: 1,
  min: null,
  max: null,
  dir: 1,
  ori: 0
};
var yScaleOpts = assign({}, xScaleOpts, {
  time: false,
  ori: 1
});
var syncs = {};
function _sync(key3, opts) {
  let s4 = syncs[key3];
  if (!s4) {
    s4 = {
      key: key3,
      plots: [],
      sub(plot) {
        s4.plots.push(plot);
      },
      unsub(plot) {
        s4.plots = s4.plots.filter((c4) => c4 != plot);
      },
      pub(type, self, x3, y5, w5, h5, i4) {
        for (let j3 = 0; j3 < s4.plots.length; j3++)
          s4.plots[j3] != self && s4.plots[j3].pub(type, self, x3, y5, w5, h5, i4);
      }
    };
    if (key3 != null)
      syncs[key3] = s4;
  }
  return s4;
}
var BAND_CLIP_FILL = 1 << 0;
var BAND_CLIP_STROKE = 1 << 1;
function orient(u4, seriesIdx, cb) {
  const mode = u4.mode;
  const series = u4.series[seriesIdx];
  const data = mode == 2 ? u4._data[seriesIdx] : u4._data;
  const scales = u4.scales;
  const bbox = u4.bbox;
  let dx = data[0], dy = mode == 2 ? data[1] : data[seriesIdx], sx = mode == 2 ? scales[series.facets[0].scale] : scales[u4.series[0].scale], sy = mode == 2 ? scales[series.facets[1].scale] : scales[series.scale], l4 = bbox.left, t4 = bbox.top, w5 = bbox.width, h5 = bbox.height, H2 = u4.valToPosH, V2 = u4.valToPosV;
  return sx.ori == 0 ? cb(
    series,
    dx,
    dy,
    sx,
    sy,
    H2,
    V2,
    l4,
    t4,
    w5,
    h5,
    moveToH,
    lineToH,
    rectH,
    arcH,
    bezierCurveToH
  ) : cb(
    series,
    dx,
    dy,
    sx,
    sy,
    V2,
    H2,
    t4,
    l4,
    h5,
    w5,
    moveToV,
    lineToV,
    rectV,
    arcV,
    bezierCurveToV
  );
}
function bandFillClipDirs(self, seriesIdx) {
  let fillDir = 0;
  let clipDirs = 0;
  let bands = ifNull(self.bands, EMPTY_ARR);
  for (let i4 = 0; i4 < bands.length; i4++) {
    let b3 = bands[i4];
    if (b3.series[0] == seriesIdx)
      fillDir = b3.dir;
    else if (b3.series[1] == seriesIdx) {
      if (b3.dir == 1)
        clipDirs |= 1;
      else
        clipDirs |= 2;
    }
  }
  return [
    fillDir,
    clipDirs == 1 ? -1 : (
      // neg only
      clipDirs == 2 ? 1 : (
        // pos only
        clipDirs == 3 ? 2 : (
          // both
          0
        )
      )
    )
  ];
}
function seriesFillTo(self, seriesIdx, dataMin, dataMax, bandFillDir) {
  let mode = self.mode;
  let series = self.series[seriesIdx];
  let scaleKey = mode == 2 ? series.facets[1].scale : series.scale;
  let scale = self.scales[scaleKey];
  return bandFillDir == -1 ? scale.min : bandFillDir == 1 ? scale.max : scale.distr == 3 ? scale.dir == 1 ? scale.min : scale.max : 0;
}
function clipBandLine(self, seriesIdx, idx0, idx1, strokePath, clipDir) {
  return orient(self, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
    let pxRound = series.pxRound;
    const dir = scaleX.dir * (scaleX.ori == 0 ? 1 : -1);
    const lineTo = scaleX.ori == 0 ? lineToH : lineToV;
    let frIdx, toIdx;
    if (dir == 1) {
      frIdx = idx0;
      toIdx = idx1;
    } else {
      frIdx = idx1;
      toIdx = idx0;
    }
    let x0 = pxRound(valToPosX(dataX[frIdx], scaleX, xDim, xOff));
    let y0 = pxRound(valToPosY(dataY[frIdx], scaleY, yDim, yOff));
    let x1 = pxRound(valToPosX(dataX[toIdx], scaleX, xDim, xOff));
    let yLimit = pxRound(valToPosY(clipDir == 1 ? scaleY.max : scaleY.min, scaleY, yDim, yOff));
    let clip = new Path2D(strokePath);
    lineTo(clip, x1, yLimit);
    lineTo(clip, x0, yLimit);
    lineTo(clip, x0, y0);
    return clip;
  });
}
function clipGaps(gaps2, ori, plotLft, plotTop, plotWid, plotHgt) {
  let clip = null;
  if (gaps2.length > 0) {
    clip = new Path2D();
    const rect2 = ori == 0 ? rectH : rectV;
    let prevGapEnd = plotLft;
    for (let i4 = 0; i4 < gaps2.length; i4++) {
      let g5 = gaps2[i4];
      if (g5[1] > g5[0]) {
        let w6 = g5[0] - prevGapEnd;
        w6 > 0 && rect2(clip, prevGapEnd, plotTop, w6, plotTop + plotHgt);
        prevGapEnd = g5[1];
      }
    }
    let w5 = plotLft + plotWid - prevGapEnd;
    let maxStrokeWidth = 10;
    w5 > 0 && rect2(clip, prevGapEnd, plotTop - maxStrokeWidth / 2, w5, plotTop + plotHgt + maxStrokeWidth);
  }
  return clip;
}
function addGap(gaps2, fromX, toX) {
  let prevGap = gaps2[gaps2.length - 1];
  if (prevGap && prevGap[0] == fromX)
    prevGap[1] = toX;
  else
    gaps2.push([fromX, toX]);
}
function findGaps(xs, ys, idx0, idx1, dir, pixelForX, align) {
  let gaps2 = [];
  let len = xs.length;
  for (let i4 = dir == 1 ? idx0 : idx1; i4 >= idx0 && i4 <= idx1; i4 += dir) {
    let yVal = ys[i4];
    if (yVal === null) {
      let fr = i4, to = i4;
      if (dir == 1) {
        while (++i4 <= idx1 && ys[i4] === null)
          to = i4;
      } else {
        while (--i4 >= idx0 && ys[i4] === null)
          to = i4;
      }
      let frPx = pixelForX(xs[fr]);
      let toPx = to == fr ? frPx : pixelForX(xs[to]);
      let fri2 = fr - dir;
      let frPx2 = align <= 0 && fri2 >= 0 && fri2 < len ? pixelForX(xs[fri2]) : frPx;
      frPx = frPx2;
      let toi2 = to + dir;
      let toPx2 = align >= 0 && toi2 >= 0 && toi2 < len ? pixelForX(xs[toi2]) : toPx;
      toPx = toPx2;
      if (toPx >= frPx)
        gaps2.push([frPx, toPx]);
    }
  }
  return gaps2;
}
function pxRoundGen(pxAlign) {
  return pxAlign == 0 ? retArg0 : pxAlign == 1 ? round : (v4) => incrRound(v4, pxAlign);
}
function rect(ori) {
  let moveTo = ori == 0 ? moveToH : moveToV;
  let arcTo = ori == 0 ? (p5, x1, y1, x22, y22, r4) => {
    p5.arcTo(x1, y1, x22, y22, r4);
  } : (p5, y1, x1, y22, x22, r4) => {
    p5.arcTo(x1, y1, x22, y22, r4);
  };
  let rect2 = ori == 0 ? (p5, x3, y5, w5, h5) => {
    p5.rect(x3, y5, w5, h5);
  } : (p5, y5, x3, h5, w5) => {
    p5.rect(x3, y5, w5, h5);
  };
  return (p5, x3, y5, w5, h5, endRad = 0, baseRad = 0) => {
    if (endRad == 0 && baseRad == 0)
      rect2(p5, x3, y5, w5, h5);
    else {
      endRad = min(endRad, w5 / 2, h5 / 2);
      baseRad = min(baseRad, w5 / 2, h5 / 2);
      moveTo(p5, x3 + endRad, y5);
      arcTo(p5, x3 + w5, y5, x3 + w5, y5 + h5, endRad);
      arcTo(p5, x3 + w5, y5 + h5, x3, y5 + h5, baseRad);
      arcTo(p5, x3, y5 + h5, x3, y5, baseRad);
      arcTo(p5, x3, y5, x3 + w5, y5, endRad);
      p5.closePath();
    }
  };
}
var moveToH = (p5, x3, y5) => {
  p5.moveTo(x3, y5);
};
var moveToV = (p5, y5, x3) => {
  p5.moveTo(x3, y5);
};
var lineToH = (p5, x3, y5) => {
  p5.lineTo(x3, y5);
};
var lineToV = (p5, y5, x3) => {
  p5.lineTo(x3, y5);
};
var rectH = rect(0);
var rectV = rect(1);
var arcH = (p5, x3, y5, r4, startAngle, endAngle) => {
  p5.arc(x3, y5, r4, startAngle, endAngle);
};
var arcV = (p5, y5, x3, r4, startAngle, endAngle) => {
  p5.arc(x3, y5, r4, startAngle, endAngle);
};
var bezierCurveToH = (p5, bp1x, bp1y, bp2x, bp2y, p2x, p2y) => {
  p5.bezierCurveTo(bp1x, bp1y, bp2x, bp2y, p2x, p2y);
};
var bezierCurveToV = (p5, bp1y, bp1x, bp2y, bp2x, p2y, p2x) => {
  p5.bezierCurveTo(bp1x, bp1y, bp2x, bp2y, p2x, p2y);
};
function points(opts) {
  return (u4, seriesIdx, idx0, idx1, filtIdxs) => {
    return orient(u4, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
      let { pxRound, points: points2 } = series;
      let moveTo, arc;
      if (scaleX.ori == 0) {
        moveTo = moveToH;
        arc = arcH;
      } else {
        moveTo = moveToV;
        arc = arcV;
      }
      const width = roundDec(points2.width * pxRatio, 3);
      let rad = (points2.size - points2.width) / 2 * pxRatio;
      let dia = roundDec(rad * 2, 3);
      let fill = new Path2D();
      let clip = new Path2D();
      let { left: lft, top, width: wid, height: hgt } = u4.bbox;
      rectH(
        clip,
        lft - dia,
        top - dia,
        wid + dia * 2,
        hgt + dia * 2
      );
      const drawPoint = (pi) => {
        if (dataY[pi] != null) {
          let x3 = pxRound(valToPosX(dataX[pi], scaleX, xDim, xOff));
          let y5 = pxRound(valToPosY(dataY[pi], scaleY, yDim, yOff));
          moveTo(fill, x3 + rad, y5);
          arc(fill, x3, y5, rad, 0, PI * 2);
        }
      };
      if (filtIdxs)
        filtIdxs.forEach(drawPoint);
      else {
        for (let pi = idx0; pi <= idx1; pi++)
          drawPoint(pi);
      }
      return {
        stroke: width > 0 ? fill : null,
        fill,
        clip,
        flags: BAND_CLIP_FILL | BAND_CLIP_STROKE
      };
    });
  };
}
function _drawAcc(lineTo) {
  return (stroke, accX, minY, maxY, inY, outY) => {
    if (minY != maxY) {
      if (inY != minY && outY != minY)
        lineTo(stroke, accX, minY);
      if (inY != maxY && outY != maxY)
        lineTo(stroke, accX, maxY);
      lineTo(stroke, accX, outY);
    }
  };
}
var drawAccH = _drawAcc(lineToH);
var drawAccV = _drawAcc(lineToV);
function linear(opts) {
  const alignGaps = ifNull(opts?.alignGaps, 0);
  return (u4, seriesIdx, idx0, idx1) => {
    return orient(u4, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
      [idx0, idx1] = nonNullIdxs(dataY, idx0, idx1);
      let pxRound = series.pxRound;
      let pixelForX = (val) => pxRound(valToPosX(val, scaleX, xDim, xOff));
      let pixelForY = (val) => pxRound(valToPosY(val, scaleY, yDim, yOff));
      let lineTo, drawAcc;
      if (scaleX.ori == 0) {
        lineTo = lineToH;
        drawAcc = drawAccH;
      } else {
        lineTo = lineToV;
        drawAcc = drawAccV;
      }
      const dir = scaleX.dir * (scaleX.ori == 0 ? 1 : -1);
      const _paths = { stroke: new Path2D(), fill: null, clip: null, band: null, gaps: null, flags: BAND_CLIP_FILL };
      const stroke = _paths.stroke;
      let hasGap = false;
      const decimate = idx1 - idx0 >= xDim * 4;
      if (decimate) {
        let xForPixel = (pos) => u4.posToVal(pos, scaleX.key, true);
        let minY = null, maxY = null, inY, outY, drawnAtX;
        let accX = pixelForX(dataX[dir == 1 ? idx0 : idx1]);
        let idx0px = pixelForX(dataX[idx0]);
        let idx1px = pixelForX(dataX[idx1]);
        let nextAccXVal = xForPixel(dir == 1 ? idx0px + 1 : idx1px - 1);
        for (let i4 = dir == 1 ? idx0 : idx1; i4 >= idx0 && i4 <= idx1; i4 += dir) {
          let xVal = dataX[i4];
          let reuseAccX = dir == 1 ? xVal < nextAccXVal : xVal > nextAccXVal;
          let x3 = reuseAccX ? accX : pixelForX(xVal);
          let yVal = dataY[i4];
          if (x3 == accX) {
            if (yVal != null) {
              outY = yVal;
              if (minY == null) {
                lineTo(stroke, x3, pixelForY(outY));
                inY = minY = maxY = outY;
              } else {
                if (outY < minY)
                  minY = outY;
                else if (outY > maxY)
                  maxY = outY;
              }
            } else {
              if (yVal === null)
                hasGap = true;
            }
          } else {
            if (minY != null)
              drawAcc(stroke, accX, pixelForY(minY), pixelForY(maxY), pixelForY(inY), pixelForY(outY));
            if (yVal != null) {
              outY = yVal;
              lineTo(stroke, x3, pixelForY(outY));
              minY = maxY = inY = outY;
            } else {
              minY = maxY = null;
              if (yVal === null)
                hasGap = true;
            }
            accX = x3;
            nextAccXVal = xForPixel(accX + dir);
          }
        }
        if (minY != null && minY != maxY && drawnAtX != accX)
          drawAcc(stroke, accX, pixelForY(minY), pixelForY(maxY), pixelForY(inY), pixelForY(outY));
      } else {
        for (let i4 = dir == 1 ? idx0 : idx1; i4 >= idx0 && i4 <= idx1; i4 += dir) {
          let yVal = dataY[i4];
          if (yVal === null)
            hasGap = true;
          else if (yVal != null)
            lineTo(stroke, pixelForX(dataX[i4]), pixelForY(yVal));
        }
      }
      let [bandFillDir, bandClipDir] = bandFillClipDirs(u4, seriesIdx);
      if (series.fill != null || bandFillDir != 0) {
        let fill = _paths.fill = new Path2D(stroke);
        let fillToVal = series.fillTo(u4, seriesIdx, series.min, series.max, bandFillDir);
        let fillToY = pixelForY(fillToVal);
        let frX = pixelForX(dataX[idx0]);
        let toX = pixelForX(dataX[idx1]);
        if (dir == -1)
          [toX, frX] = [frX, toX];
        lineTo(fill, toX, fillToY);
        lineTo(fill, frX, fillToY);
      }
      if (!series.spanGaps) {
        let gaps2 = [];
        hasGap && gaps2.push(...findGaps(dataX, dataY, idx0, idx1, dir, pixelForX, alignGaps));
        _paths.gaps = gaps2 = series.gaps(u4, seriesIdx, idx0, idx1, gaps2);
        _paths.clip = clipGaps(gaps2, scaleX.ori, xOff, yOff, xDim, yDim);
      }
      if (bandClipDir != 0) {
        _paths.band = bandClipDir == 2 ? [
          clipBandLine(u4, seriesIdx, idx0, idx1, stroke, -1),
          clipBandLine(u4, seriesIdx, idx0, idx1, stroke, 1)
        ] : clipBandLine(u4, seriesIdx, idx0, idx1, stroke, bandClipDir);
      }
      return _paths;
    });
  };
}
function stepped(opts) {
  const align = ifNull(opts.align, 1);
  const ascDesc = ifNull(opts.ascDesc, false);
  const alignGaps = ifNull(opts.alignGaps, 0);
  const extend = ifNull(opts.extend, false);
  return (u4, seriesIdx, idx0, idx1) => {
    return orient(u4, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
      [idx0, idx1] = nonNullIdxs(dataY, idx0, idx1);
      let pxRound = series.pxRound;
      let { left, width } = u4.bbox;
      let pixelForX = (val) => pxRound(valToPosX(val, scaleX, xDim, xOff));
      let pixelForY = (val) => pxRound(valToPosY(val, scaleY, yDim, yOff));
      let lineTo = scaleX.ori == 0 ? lineToH : lineToV;
      const _paths = { stroke: new Path2D(), fill: null, clip: null, band: null, gaps: null, flags: BAND_CLIP_FILL };
      const stroke = _paths.stroke;
      const dir = scaleX.dir * (scaleX.ori == 0 ? 1 : -1);
      let prevYPos = pixelForY(dataY[dir == 1 ? idx0 : idx1]);
      let firstXPos = pixelForX(dataX[dir == 1 ? idx0 : idx1]);
      let prevXPos = firstXPos;
      let firstXPosExt = firstXPos;
      if (extend && align == -1) {
        firstXPosExt = left;
        lineTo(stroke, firstXPosExt, prevYPos);
      }
      lineTo(stroke, firstXPos, prevYPos);
      for (let i4 = dir == 1 ? idx0 : idx1; i4 >= idx0 && i4 <= idx1; i4 += dir) {
        let yVal1 = dataY[i4];
        if (yVal1 == null)
          continue;
        let x1 = pixelForX(dataX[i4]);
        let y1 = pixelForY(yVal1);
        if (align == 1)
          lineTo(stroke, x1, prevYPos);
        else
          lineTo(stroke, prevXPos, y1);
        lineTo(stroke, x1, y1);
        prevYPos = y1;
        prevXPos = x1;
      }
      let prevXPosExt = prevXPos;
      if (extend && align == 1) {
        prevXPosExt = left + width;
        lineTo(stroke, prevXPosExt, prevYPos);
      }
      let [bandFillDir, bandClipDir] = bandFillClipDirs(u4, seriesIdx);
      if (series.fill != null || bandFillDir != 0) {
        let fill = _paths.fill = new Path2D(stroke);
        let fillTo = series.fillTo(u4, seriesIdx, series.min, series.max, bandFillDir);
        let fillToY = pixelForY(fillTo);
        lineTo(fill, prevXPosExt, fillToY);
        lineTo(fill, firstXPosExt, fillToY);
      }
      if (!series.spanGaps) {
        let gaps2 = [];
        gaps2.push(...findGaps(dataX, dataY, idx0, idx1, dir, pixelForX, alignGaps));
        let halfStroke = series.width * pxRatio / 2;
        let startsOffset = ascDesc || align == 1 ? halfStroke : -halfStroke;
        let endsOffset = ascDesc || align == -1 ? -halfStroke : halfStroke;
        gaps2.forEach((g5) => {
          g5[0] += startsOffset;
          g5[1] += endsOffset;
        });
        _paths.gaps = gaps2 = series.gaps(u4, seriesIdx, idx0, idx1, gaps2);
        _paths.clip = clipGaps(gaps2, scaleX.ori, xOff, yOff, xDim, yDim);
      }
      if (bandClipDir != 0) {
        _paths.band = bandClipDir == 2 ? [
          clipBandLine(u4, seriesIdx, idx0, idx1, stroke, -1),
          clipBandLine(u4, seriesIdx, idx0, idx1, stroke, 1)
        ] : clipBandLine(u4, seriesIdx, idx0, idx1, stroke, bandClipDir);
      }
      return _paths;
    });
  };
}
function findColWidth(dataX, dataY, valToPosX, scaleX, xDim, xOff, colWid = inf) {
  if (dataX.length > 1) {
    let prevIdx = null;
    for (let i4 = 0, minDelta = Infinity; i4 < dataX.length; i4++) {
      if (dataY[i4] !== void 0) {
        if (prevIdx != null) {
          let delta = abs(dataX[i4] - dataX[prevIdx]);
          if (delta < minDelta) {
            minDelta = delta;
            colWid = abs(valToPosX(dataX[i4], scaleX, xDim, xOff) - valToPosX(dataX[prevIdx], scaleX, xDim, xOff));
          }
        }
        prevIdx = i4;
      }
    }
  }
  return colWid;
}
function bars(opts) {
  opts = opts || EMPTY_OBJ;
  const size = ifNull(opts.size, [0.6, inf, 1]);
  const align = opts.align || 0;
  const _extraGap = opts.gap || 0;
  let ro = opts.radius;
  ro = // [valueRadius, baselineRadius]
  ro == null ? [0, 0] : typeof ro == "number" ? [ro, 0] : ro;
  const radiusFn = fnOrSelf(ro);
  const gapFactor = 1 - size[0];
  const _maxWidth = ifNull(size[1], inf);
  const _minWidth = ifNull(size[2], 1);
  const disp = ifNull(opts.disp, EMPTY_OBJ);
  const _each = ifNull(opts.each, (_5) => {
  });
  const { fill: dispFills, stroke: dispStrokes } = disp;
  return (u4, seriesIdx, idx0, idx1) => {
    return orient(u4, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
      let pxRound = series.pxRound;
      let _align = align;
      let extraGap = _extraGap * pxRatio;
      let maxWidth = _maxWidth * pxRatio;
      let minWidth = _minWidth * pxRatio;
      let valRadius, baseRadius;
      if (scaleX.ori == 0)
        [valRadius, baseRadius] = radiusFn(u4, seriesIdx);
      else
        [baseRadius, valRadius] = radiusFn(u4, seriesIdx);
      const _dirX = scaleX.dir * (scaleX.ori == 0 ? 1 : -1);
      let rect2 = scaleX.ori == 0 ? rectH : rectV;
      let each = scaleX.ori == 0 ? _each : (u5, seriesIdx2, i4, top, lft, hgt, wid) => {
        _each(u5, seriesIdx2, i4, lft, top, wid, hgt);
      };
      let band = ifNull(u4.bands, EMPTY_ARR).find((b3) => b3.series[0] == seriesIdx);
      let fillDir = band != null ? band.dir : 0;
      let fillTo = series.fillTo(u4, seriesIdx, series.min, series.max, fillDir);
      let fillToY = pxRound(valToPosY(fillTo, scaleY, yDim, yOff));
      let xShift, barWid, fullGap, colWid = xDim;
      let strokeWidth = pxRound(series.width * pxRatio);
      let multiPath = false;
      let fillColors = null;
      let fillPaths = null;
      let strokeColors = null;
      let strokePaths = null;
      if (dispFills != null && (strokeWidth == 0 || dispStrokes != null)) {
        multiPath = true;
        fillColors = dispFills.values(u4, seriesIdx, idx0, idx1);
        fillPaths = new Map();
        new Set(fillColors).forEach((color) => {
          if (color != null)
            fillPaths.set(color, new Path2D());
        });
        if (strokeWidth > 0) {
          strokeColors = dispStrokes.values(u4, seriesIdx, idx0, idx1);
          strokePaths = new Map();
          new Set(strokeColors).forEach((color) => {
            if (color != null)
              strokePaths.set(color, new Path2D());
          });
        }
      }
      let { x0, size: size2 } = disp;
      if (x0 != null && size2 != null) {
        _align = 1;
        dataX = x0.values(u4, seriesIdx, idx0, idx1);
        if (x0.unit == 2)
          dataX = dataX.map((pct) => u4.posToVal(xOff + pct * xDim, scaleX.key, true));
        let sizes = size2.values(u4, seriesIdx, idx0, idx1);
        if (size2.unit == 2)
          barWid = sizes[0] * xDim;
        else
          barWid = valToPosX(sizes[0], scaleX, xDim, xOff) - valToPosX(0, scaleX, xDim, xOff);
        colWid = findColWidth(dataX, dataY, valToPosX, scaleX, xDim, xOff, colWid);
        let gapWid = colWid - barWid;
        fullGap = gapWid + extraGap;
      } else {
        colWid = findColWidth(dataX, dataY, valToPosX, scaleX, xDim, xOff, colWid);
        let gapWid = colWid * gapFactor;
        fullGap = gapWid + extraGap;
        barWid = colWid - fullGap;
      }
      if (fullGap < 1)
        fullGap = 0;
      if (strokeWidth >= barWid / 2)
        strokeWidth = 0;
      if (fullGap < 5)
        pxRound = retArg0;
      let insetStroke = fullGap > 0;
      let rawBarWid = colWid - fullGap - (insetStroke ? strokeWidth : 0);
      barWid = pxRound(clamp(rawBarWid, minWidth, maxWidth));
      xShift = (_align == 0 ? barWid / 2 : _align == _dirX ? 0 : barWid) - _align * _dirX * ((_align == 0 ? extraGap / 2 : 0) + (insetStroke ? strokeWidth / 2 : 0));
      const _paths = { stroke: null, fill: null, clip: null, band: null, gaps: null, flags: 0 };
      const stroke = multiPath ? null : new Path2D();
      let dataY0 = null;
      if (band != null)
        dataY0 = u4.data[band.series[1]];
      else {
        let { y0, y1 } = disp;
        if (y0 != null && y1 != null) {
          dataY = y1.values(u4, seriesIdx, idx0, idx1);
          dataY0 = y0.values(u4, seriesIdx, idx0, idx1);
        }
      }
      let radVal = valRadius * barWid;
      let radBase = baseRadius * barWid;
      for (let i4 = _dirX == 1 ? idx0 : idx1; i4 >= idx0 && i4 <= idx1; i4 += _dirX) {
        let yVal = dataY[i4];
        if (yVal == null)
          continue;
        if (dataY0 != null) {
          let yVal0 = dataY0[i4] ?? 0;
          if (yVal - yVal0 == 0)
            continue;
          fillToY = valToPosY(yVal0, scaleY, yDim, yOff);
        }
        let xVal = scaleX.distr != 2 || disp != null ? dataX[i4] : i4;
        let xPos = valToPosX(xVal, scaleX, xDim, xOff);
        let yPos = valToPosY(ifNull(yVal, fillTo), scaleY, yDim, yOff);
        let lft = pxRound(xPos - xShift);
        let btm = pxRound(max(yPos, fillToY));
        let top = pxRound(min(yPos, fillToY));
        let barHgt = btm - top;
        if (yVal != null) {
          let rv = yVal < 0 ? radBase : radVal;
          let rb = yVal < 0 ? radVal : radBase;
          if (multiPath) {
            if (strokeWidth > 0 && strokeColors[i4] != null)
              rect2(strokePaths.get(strokeColors[i4]), lft, top + floor(strokeWidth / 2), barWid, max(0, barHgt - strokeWidth), rv, rb);
            if (fillColors[i4] != null)
              rect2(fillPaths.get(fillColors[i4]), lft, top + floor(strokeWidth / 2), barWid, max(0, barHgt - strokeWidth), rv, rb);
          } else
            rect2(stroke, lft, top + floor(strokeWidth / 2), barWid, max(0, barHgt - strokeWidth), rv, rb);
          each(
            u4,
            seriesIdx,
            i4,
            lft - strokeWidth / 2,
            top,
            barWid + strokeWidth,
            barHgt
          );
        }
      }
      if (strokeWidth > 0)
        _paths.stroke = multiPath ? strokePaths : stroke;
      else if (!multiPath) {
        _paths._fill = series.width == 0 ? series._fill : series._stroke ?? series._fill;
        _paths.width = 0;
      }
      _paths.fill = multiPath ? fillPaths : stroke;
      return _paths;
    });
  };
}
function splineInterp(interp, opts) {
  const alignGaps = ifNull(opts?.alignGaps, 0);
  return (u4, seriesIdx, idx0, idx1) => {
    return orient(u4, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
      [idx0, idx1] = nonNullIdxs(dataY, idx0, idx1);
      let pxRound = series.pxRound;
      let pixelForX = (val) => pxRound(valToPosX(val, scaleX, xDim, xOff));
      let pixelForY = (val) => pxRound(valToPosY(val, scaleY, yDim, yOff));
      let moveTo, bezierCurveTo, lineTo;
      if (scaleX.ori == 0) {
        moveTo = moveToH;
        lineTo = lineToH;
        bezierCurveTo = bezierCurveToH;
      } else {
        moveTo = moveToV;
        lineTo = lineToV;
        bezierCurveTo = bezierCurveToV;
      }
      const dir = scaleX.dir * (scaleX.ori == 0 ? 1 : -1);
      let firstXPos = pixelForX(dataX[dir == 1 ? idx0 : idx1]);
      let prevXPos = firstXPos;
      let xCoords = [];
      let yCoords = [];
      for (let i4 = dir == 1 ? idx0 : idx1; i4 >= idx0 && i4 <= idx1; i4 += dir) {
        let yVal = dataY[i4];
        if (yVal != null) {
          let xVal = dataX[i4];
          let xPos = pixelForX(xVal);
          xCoords.push(prevXPos = xPos);
          yCoords.push(pixelForY(dataY[i4]));
        }
      }
      const _paths = { stroke: interp(xCoords, yCoords, moveTo, lineTo, bezierCurveTo, pxRound), fill: null, clip: null, band: null, gaps: null, flags: BAND_CLIP_FILL };
      const stroke = _paths.stroke;
      let [bandFillDir, bandClipDir] = bandFillClipDirs(u4, seriesIdx);
      if (series.fill != null || bandFillDir != 0) {
        let fill = _paths.fill = new Path2D(stroke);
        let fillTo = series.fillTo(u4, seriesIdx, series.min, series.max, bandFillDir);
        let fillToY = pixelForY(fillTo);
        lineTo(fill, prevXPos, fillToY);
        lineTo(fill, firstXPos, fillToY);
      }
      if (!series.spanGaps) {
        let gaps2 = [];
        gaps2.push(...findGaps(dataX, dataY, idx0, idx1, dir, pixelForX, alignGaps));
        _paths.gaps = gaps2 = series.gaps(u4, seriesIdx, idx0, idx1, gaps2);
        _paths.clip = clipGaps(gaps2, scaleX.ori, xOff, yOff, xDim, yDim);
      }
      if (bandClipDir != 0) {
        _paths.band = bandClipDir == 2 ? [
          clipBandLine(u4, seriesIdx, idx0, idx1, stroke, -1),
          clipBandLine(u4, seriesIdx, idx0, idx1, stroke, 1)
        ] : clipBandLine(u4, seriesIdx, idx0, idx1, stroke, bandClipDir);
      }
      return _paths;
    });
  };
}
function monotoneCubic(opts) {
  return splineInterp(_monotoneCubic, opts);
}
function _monotoneCubic(xs, ys, moveTo, lineTo, bezierCurveTo, pxRound) {
  const n3 = xs.length;
  if (n3 < 2)
    return null;
  const path = new Path2D();
  moveTo(path, xs[0], ys[0]);
  if (n3 == 2)
    lineTo(path, xs[1], ys[1]);
  else {
    let ms = Array(n3), ds = Array(n3 - 1), dys = Array(n3 - 1), dxs = Array(n3 - 1);
    for (let i4 = 0; i4 < n3 - 1; i4++) {
      dys[i4] = ys[i4 + 1] - ys[i4];
      dxs[i4] = xs[i4 + 1] - xs[i4];
      ds[i4] = dys[i4] / dxs[i4];
    }
    ms[0] = ds[0];
    for (let i4 = 1; i4 < n3 - 1; i4++) {
      if (ds[i4] === 0 || ds[i4 - 1] === 0 || ds[i4 - 1] > 0 !== ds[i4] > 0)
        ms[i4] = 0;
      else {
        ms[i4] = 3 * (dxs[i4 - 1] + dxs[i4]) / ((2 * dxs[i4] + dxs[i4 - 1]) / ds[i4 - 1] + (dxs[i4] + 2 * dxs[i4 - 1]) / ds[i4]);
        if (!isFinite(ms[i4]))
          ms[i4] = 0;
      }
    }
    ms[n3 - 1] = ds[n3 - 2];
    for (let i4 = 0; i4 < n3 - 1; i4++) {
      bezierCurveTo(
        path,
        xs[i4] + dxs[i4] / 3,
        ys[i4] + ms[i4] * dxs[i4] / 3,
        xs[i4 + 1] - dxs[i4] / 3,
        ys[i4 + 1] - ms[i4 + 1] * dxs[i4] / 3,
        xs[i4 + 1],
        ys[i4 + 1]
      );
    }
  }
  return path;
}
var cursorPlots = new Set();
function invalidateRects() {
  for (let u4 of cursorPlots)
    u4.syncRect(true);
}
if (domEnv) {
  on(resize, win, invalidateRects);
  on(scroll, win, invalidateRects, true);
  on(dppxchange, win, () => {
    uPlot.pxRatio = pxRatio;
  });
}
var linearPath = linear();
var pointsPath = points();
function setDefaults(d5, xo, yo, initY) {
  let d22 = initY ? [d5[0], d5[1]].concat(d5.slice(2)) : [d5[0]].concat(d5.slice(1));
  return d22.map((o5, i4) => setDefault(o5, i4, xo, yo));
}
function setDefaults2(d5, xyo) {
  return d5.map((o5, i4) => i4 == 0 ? {} : assign({}, xyo, o5));
}
function setDefault(o5, i4, xo, yo) {
  return assign({}, i4 == 0 ? xo : yo, o5);
}
function snapNumX(self, dataMin, dataMax) {
  return dataMin == null ? nullNullTuple : [dataMin, dataMax];
}
var snapTimeX = snapNumX;
function snapNumY(self, dataMin, dataMax) {
  return dataMin == null ? nullNullTuple : rangeNum(dataMin, dataMax, rangePad, true);
}
function snapLogY(self, dataMin, dataMax, scale) {
  return dataMin == null ? nullNullTuple : rangeLog(dataMin, dataMax, self.scales[scale].log, false);
}
var snapLogX = snapLogY;
function snapAsinhY(self, dataMin, dataMax, scale) {
  return dataMin == null ? nullNullTuple : rangeAsinh(dataMin, dataMax, self.scales[scale].log, false);
}
var snapAsinhX = snapAsinhY;
function findIncr(minVal, maxVal, incrs, dim, minSpace) {
  let intDigits = max(numIntDigits(minVal), numIntDigits(maxVal));
  let delta = maxVal - minVal;
  let incrIdx = closestIdx(minSpace / dim * delta, incrs);
  do {
    let foundIncr = incrs[incrIdx];
    let foundSpace = dim * foundIncr / delta;
    if (foundSpace >= minSpace && intDigits + (foundIncr < 5 ? fixedDec.get(foundIncr) : 0) <= 17)
      return [foundIncr, foundSpace];
  } while (++incrIdx < incrs.length);
  return [0, 0];
}
function pxRatioFont(font2) {
  let fontSize, fontSizeCss;
  font2 = font2.replace(/(\d+)px/, (m5, p1) => (fontSize = round((fontSizeCss = +p1) * pxRatio)) + "px");
  return [font2, fontSize, fontSizeCss];
}
function syncFontSize(axis) {
  if (axis.show) {
    [axis.font, axis.labelFont].forEach((f5) => {
      let size = roundDec(f5[2] * pxRatio, 1);
      f5[0] = f5[0].replace(/[0-9.]+px/, size + "px");
      f5[1] = size;
    });
  }
}
function uPlot(opts, data, then) {
  const self = {
    mode: ifNull(opts.mode, 1)
  };
  const mode = self.mode;
  function getHPos(val, scale, dim, off2) {
    let pct = scale.valToPct(val);
    return off2 + dim * (scale.dir == -1 ? 1 - pct : pct);
  }
  function getVPos(val, scale, dim, off2) {
    let pct = scale.valToPct(val);
    return off2 + dim * (scale.dir == -1 ? pct : 1 - pct);
  }
  function getPos(val, scale, dim, off2) {
    return scale.ori == 0 ? getHPos(val, scale, dim, off2) : getVPos(val, scale, dim, off2);
  }
  self.valToPosH = getHPos;
  self.valToPosV = getVPos;
  let ready = false;
  self.status = 0;
  const root = self.root = placeDiv(UPLOT);
  if (opts.id != null)
    root.id = opts.id;
  addClass(root, opts.class);
  if (opts.title) {
    let title2 = placeDiv(TITLE, root);
    title2.textContent = opts.title;
  }
  const can = placeTag("canvas");
  const ctx = self.ctx = can.getContext("2d");
  const wrap = placeDiv(WRAP, root);
  on("click", wrap, (e4) => {
    if (e4.target === over) {
      let didDrag = mouseLeft1 != mouseLeft0 || mouseTop1 != mouseTop0;
      didDrag && drag.click(self, e4);
    }
  }, true);
  const under = self.under = placeDiv(UNDER, wrap);
  wrap.appendChild(can);
  const over = self.over = placeDiv(OVER, wrap);
  opts = copy2(opts);
  const pxAlign = +ifNull(opts.pxAlign, 1);
  const pxRound = pxRoundGen(pxAlign);
  (opts.plugins || []).forEach((p5) => {
    if (p5.opts)
      opts = p5.opts(self, opts) || opts;
  });
  const ms = opts.ms || 1e-3;
  const series = self.series = mode == 1 ? setDefaults(opts.series || [], xSeriesOpts, ySeriesOpts, false) : setDefaults2(opts.series || [null], xySeriesOpts);
  const axes = self.axes = setDefaults(opts.axes || [], xAxisOpts, yAxisOpts, true);
  const scales = self.scales = {};
  const bands = self.bands = opts.bands || [];
  bands.forEach((b3) => {
    b3.fill = fnOrSelf(b3.fill || null);
    b3.dir = ifNull(b3.dir, -1);
  });
  const xScaleKey = mode == 2 ? series[1].facets[0].scale : series[0].scale;
  const drawOrderMap = {
    axes: drawAxesGrid,
    series: drawSeries
  };
  const drawOrder = (opts.drawOrder || ["axes", "series"]).map((key4) => drawOrderMap[key4]);
  function initValToPct(sc) {
    const getVal = sc.distr == 3 ? (val) => log10(val > 0 ? val : sc.clamp(self, val, sc.min, sc.max, sc.key)) : sc.distr == 4 ? (val) => asinh(val, sc.asinh) : sc.distr == 100 ? (val) => sc.fwd(val) : (val) => val;
    return (val) => {
      let _val = getVal(val);
      let { _min, _max } = sc;
      let delta = _max - _min;
      return (_val - _min) / delta;
    };
  }
  function initScale(scaleKey) {
    let sc = scales[scaleKey];
    if (sc == null) {
      let scaleOpts = (opts.scales || EMPTY_OBJ)[scaleKey] || EMPTY_OBJ;
      if (scaleOpts.from != null) {
        initScale(scaleOpts.from);
        let sc2 = assign({}, scales[scaleOpts.from], scaleOpts, { key: scaleKey });
        sc2.valToPct = initValToPct(sc2);
        scales[scaleKey] = sc2;
      } else {
        sc = scales[scaleKey] = assign({}, scaleKey == xScaleKey ? xScaleOpts : yScaleOpts, scaleOpts);
        sc.key = scaleKey;
        let isTime3 = sc.time;
        let rn = sc.range;
        let rangeIsArr = isArr(rn);
        if (scaleKey != xScaleKey || mode == 2 && !isTime3) {
          if (rangeIsArr && (rn[0] == null || rn[1] == null)) {
            rn = {
              min: rn[0] == null ? autoRangePart : {
                mode: 1,
                hard: rn[0],
                soft: rn[0]
              },
              max: rn[1] == null ? autoRangePart : {
                mode: 1,
                hard: rn[1],
                soft: rn[1]
              }
            };
            rangeIsArr = false;
          }
          if (!rangeIsArr && isObj(rn)) {
            let cfg = rn;
            rn = (self2, dataMin, dataMax) => dataMin == null ? nullNullTuple : rangeNum(dataMin, dataMax, cfg);
          }
        }
        sc.range = fnOrSelf(rn || (isTime3 ? snapTimeX : scaleKey == xScaleKey ? sc.distr == 3 ? snapLogX : sc.distr == 4 ? snapAsinhX : snapNumX : sc.distr == 3 ? snapLogY : sc.distr == 4 ? snapAsinhY : snapNumY));
        sc.auto = fnOrSelf(rangeIsArr ? false : sc.auto);
        sc.clamp = fnOrSelf(sc.clamp || clampScale);
        sc._min = sc._max = null;
        sc.valToPct = initValToPct(sc);
      }
    }
  }
  initScale("x");
  initScale("y");
  if (mode == 1) {
    series.forEach((s4) => {
      initScale(s4.scale);
    });
  }
  axes.forEach((a5) => {
    initScale(a5.scale);
  });
  for (let k4 in opts.scales)
    initScale(k4);
  const scaleX = scales[xScaleKey];
  const xScaleDistr = scaleX.distr;
  let valToPosX, valToPosY;
  if (scaleX.ori == 0) {
    addClass(root, ORI_HZ);
    valToPosX = getHPos;
    valToPosY = getVPos;
  } else {
    addClass(root, ORI_VT);
    valToPosX = getVPos;
    valToPosY = getHPos;
  }
  const pendScales = {};
  for (let k4 in scales) {
    let sc = scales[k4];
    if (sc.min != null || sc.max != null) {
      pendScales[k4] = { min: sc.min, max: sc.max };
      sc.min = sc.max = null;
    }
  }
  const _tzDate = opts.tzDate || ((ts) => new Date(round(ts / ms)));
  const _fmtDate = opts.fmtDate || fmtDate;
  const _timeAxisSplits = ms == 1 ? timeAxisSplitsMs(_tzDate) : timeAxisSplitsS(_tzDate);
  const _timeAxisVals = timeAxisVals(_tzDate, timeAxisStamps(ms == 1 ? _timeAxisStampsMs : _timeAxisStampsS, _fmtDate));
  const _timeSeriesVal = timeSeriesVal(_tzDate, timeSeriesStamp(_timeSeriesStamp, _fmtDate));
  const activeIdxs = [];
  const legend = self.legend = assign({}, legendOpts, opts.legend);
  const cursor = self.cursor = assign({}, cursorOpts, { drag: { y: mode == 2 } }, opts.cursor);
  const showLegend = legend.show;
  const showCursor = cursor.show;
  const markers = legend.markers;
  {
    legend.idxs = activeIdxs;
    markers.width = fnOrSelf(markers.width);
    markers.dash = fnOrSelf(markers.dash);
    markers.stroke = fnOrSelf(markers.stroke);
    markers.fill = fnOrSelf(markers.fill);
  }
  let legendTable;
  let legendHead;
  let legendBody;
  let legendRows = [];
  let legendCells = [];
  let legendCols;
  let multiValLegend = false;
  let NULL_LEGEND_VALUES = {};
  if (legend.live) {
    const getMultiVals = series[1] ? series[1].values : null;
    multiValLegend = getMultiVals != null;
    legendCols = multiValLegend ? getMultiVals(self, 1, 0) : { _: 0 };
    for (let k4 in legendCols)
      NULL_LEGEND_VALUES[k4] = LEGEND_DISP;
  }
  if (showLegend) {
    legendTable = placeTag("table", LEGEND, root);
    legendBody = placeTag("tbody", null, legendTable);
    legend.mount(self, legendTable);
    if (multiValLegend) {
      legendHead = placeTag("thead", null, legendTable, legendBody);
      let head = placeTag("tr", null, legendHead);
      placeTag("th", null, head);
      for (var key3 in legendCols)
        placeTag("th", LEGEND_LABEL, head).textContent = key3;
    } else {
      addClass(legendTable, LEGEND_INLINE);
      legend.live && addClass(legendTable, LEGEND_LIVE);
    }
  }
  const son = { show: true };
  const soff = { show: false };
  function initLegendRow(s4, i4) {
    if (i4 == 0 && (multiValLegend || !legend.live || mode == 2))
      return nullNullTuple;
    let cells = [];
    let row = placeTag("tr", LEGEND_SERIES, legendBody, legendBody.childNodes[i4]);
    addClass(row, s4.class);
    if (!s4.show)
      addClass(row, OFF);
    let label = placeTag("th", null, row);
    if (markers.show) {
      let indic = placeDiv(LEGEND_MARKER, label);
      if (i4 > 0) {
        let width = markers.width(self, i4);
        if (width)
          indic.style.border = width + "px " + markers.dash(self, i4) + " " + markers.stroke(self, i4);
        indic.style.background = markers.fill(self, i4);
      }
    }
    let text = placeDiv(LEGEND_LABEL, label);
    if (s4.label instanceof HTMLElement)
      text.appendChild(s4.label);
    else
      text.textContent = s4.label;
    if (i4 > 0) {
      if (!markers.show)
        text.style.color = s4.width > 0 ? markers.stroke(self, i4) : markers.fill(self, i4);
      onMouse("click", label, (e4) => {
        if (cursor._lock)
          return;
        setCursorEvent(e4);
        let seriesIdx = series.indexOf(s4);
        if ((e4.ctrlKey || e4.metaKey) != legend.isolate) {
          let isolate = series.some((s5, i5) => i5 > 0 && i5 != seriesIdx && s5.show);
          series.forEach((s5, i5) => {
            i5 > 0 && setSeries(i5, isolate ? i5 == seriesIdx ? son : soff : son, true, syncOpts.setSeries);
          });
        } else
          setSeries(seriesIdx, { show: !s4.show }, true, syncOpts.setSeries);
      }, false);
      if (cursorFocus) {
        onMouse(mouseenter, label, (e4) => {
          if (cursor._lock)
            return;
          setCursorEvent(e4);
          setSeries(series.indexOf(s4), FOCUS_TRUE, true, syncOpts.setSeries);
        }, false);
      }
    }
    for (var key4 in legendCols) {
      let v4 = placeTag("td", LEGEND_VALUE, row);
      v4.textContent = "--";
      cells.push(v4);
    }
    return [row, cells];
  }
  const mouseListeners = new Map();
  function onMouse(ev, targ, fn, onlyTarg = true) {
    const targListeners = mouseListeners.get(targ) || {};
    const listener = cursor.bind[ev](self, targ, fn, onlyTarg);
    if (listener) {
      on(ev, targ, targListeners[ev] = listener);
      mouseListeners.set(targ, targListeners);
    }
  }
  function offMouse(ev, targ, fn) {
    const targListeners = mouseListeners.get(targ) || {};
    for (let k4 in targListeners) {
      if (ev == null || k4 == ev) {
        off(k4, targ, targListeners[k4]);
        delete targListeners[k4];
      }
    }
    if (ev == null)
      mouseListeners.delete(targ);
  }
  let fullWidCss = 0;
  let fullHgtCss = 0;
  let plotWidCss = 0;
  let plotHgtCss = 0;
  let plotLftCss = 0;
  let plotTopCss = 0;
  let _plotLftCss = plotLftCss;
  let _plotTopCss = plotTopCss;
  let _plotWidCss = plotWidCss;
  let _plotHgtCss = plotHgtCss;
  let plotLft = 0;
  let plotTop = 0;
  let plotWid = 0;
  let plotHgt = 0;
  self.bbox = {};
  let shouldSetScales = false;
  let shouldSetSize = false;
  let shouldConvergeSize = false;
  let shouldSetCursor = false;
  let shouldSetSelect = false;
  let shouldSetLegend = false;
  function _setSize(width, height, force) {
    if (force || (width != self.width || height != self.height))
      calcSize(width, height);
    resetYSeries(false);
    shouldConvergeSize = true;
    shouldSetSize = true;
    commit();
  }
  function calcSize(width, height) {
    self.width = fullWidCss = plotWidCss = width;
    self.height = fullHgtCss = plotHgtCss = height;
    plotLftCss = plotTopCss = 0;
    calcPlotRect();
    calcAxesRects();
    let bb = self.bbox;
    plotLft = bb.left = incrRound(plotLftCss * pxRatio, 0.5);
    plotTop = bb.top = incrRound(plotTopCss * pxRatio, 0.5);
    plotWid = bb.width = incrRound(plotWidCss * pxRatio, 0.5);
    plotHgt = bb.height = incrRound(plotHgtCss * pxRatio, 0.5);
  }
  const CYCLE_LIMIT = 3;
  function convergeSize() {
    let converged = false;
    let cycleNum = 0;
    while (!converged) {
      cycleNum++;
      let axesConverged = axesCalc(cycleNum);
      let paddingConverged = paddingCalc(cycleNum);
      converged = cycleNum == CYCLE_LIMIT || axesConverged && paddingConverged;
      if (!converged) {
        calcSize(self.width, self.height);
        shouldSetSize = true;
      }
    }
  }
  function setSize({ width, height }) {
    _setSize(width, height);
  }
  self.setSize = setSize;
  function calcPlotRect() {
    let hasTopAxis = false;
    let hasBtmAxis = false;
    let hasRgtAxis = false;
    let hasLftAxis = false;
    axes.forEach((axis, i4) => {
      if (axis.show && axis._show) {
        let { side, _size } = axis;
        let isVt = side % 2;
        let labelSize = axis.label != null ? axis.labelSize : 0;
        let fullSize = _size + labelSize;
        if (fullSize > 0) {
          if (isVt) {
            plotWidCss -= fullSize;
            if (side == 3) {
              plotLftCss += fullSize;
              hasLftAxis = true;
            } else
              hasRgtAxis = true;
          } else {
            plotHgtCss -= fullSize;
            if (side == 0) {
              plotTopCss += fullSize;
              hasTopAxis = true;
            } else
              hasBtmAxis = true;
          }
        }
      }
    });
    sidesWithAxes[0] = hasTopAxis;
    sidesWithAxes[1] = hasRgtAxis;
    sidesWithAxes[2] = hasBtmAxis;
    sidesWithAxes[3] = hasLftAxis;
    plotWidCss -= _padding[1] + _padding[3];
    plotLftCss += _padding[3];
    plotHgtCss -= _padding[2] + _padding[0];
    plotTopCss += _padding[0];
  }
  function calcAxesRects() {
    let off1 = plotLftCss + plotWidCss;
    let off2 = plotTopCss + plotHgtCss;
    let off3 = plotLftCss;
    let off0 = plotTopCss;
    function incrOffset(side, size) {
      switch (side) {
        case 1:
          off1 += size;
          return off1 - size;
        case 2:
          off2 += size;
          return off2 - size;
        case 3:
          off3 -= size;
          return off3 + size;
        case 0:
          off0 -= size;
          return off0 + size;
      }
    }
    axes.forEach((axis, i4) => {
      if (axis.show && axis._show) {
        let side = axis.side;
        axis._pos = incrOffset(side, axis._size);
        if (axis.label != null)
          axis._lpos = incrOffset(side, axis.labelSize);
      }
    });
  }
  if (cursor.dataIdx == null) {
    let hov = cursor.hover;
    let skip = hov.skip = new Set(hov.skip ?? []);
    skip.add(void 0);
    let prox = hov.prox = fnOrSelf(hov.prox);
    let bias = hov.bias ??= 0;
    cursor.dataIdx = (self2, seriesIdx, cursorIdx, valAtPosX) => {
      if (seriesIdx == 0)
        return cursorIdx;
      let idx2 = cursorIdx;
      let _prox = prox(self2, seriesIdx, cursorIdx, valAtPosX) ?? inf;
      let withProx = _prox >= 0 && _prox < inf;
      let xDim = scaleX.ori == 0 ? plotWidCss : plotHgtCss;
      let cursorLft = cursor.left;
      let xValues = data[0];
      let yValues = data[seriesIdx];
      if (skip.has(yValues[cursorIdx])) {
        idx2 = null;
        let nonNullLft = null, nonNullRgt = null, j3;
        if (bias == 0 || bias == -1) {
          j3 = cursorIdx;
          while (nonNullLft == null && j3-- > 0) {
            if (!skip.has(yValues[j3]))
              nonNullLft = j3;
          }
        }
        if (bias == 0 || bias == 1) {
          j3 = cursorIdx;
          while (nonNullRgt == null && j3++ < yValues.length) {
            if (!skip.has(yValues[j3]))
              nonNullRgt = j3;
          }
        }
        if (nonNullLft != null || nonNullRgt != null) {
          if (withProx) {
            let lftPos = nonNullLft == null ? -Infinity : valToPosX(xValues[nonNullLft], scaleX, xDim, 0);
            let rgtPos = nonNullRgt == null ? Infinity : valToPosX(xValues[nonNullRgt], scaleX, xDim, 0);
            let lftDelta = cursorLft - lftPos;
            let rgtDelta = rgtPos - cursorLft;
            if (lftDelta <= rgtDelta) {
              if (lftDelta <= _prox)
                idx2 = nonNullLft;
            } else {
              if (rgtDelta <= _prox)
                idx2 = nonNullRgt;
            }
          } else {
            idx2 = nonNullRgt == null ? nonNullLft : nonNullLft == null ? nonNullRgt : cursorIdx - nonNullLft <= nonNullRgt - cursorIdx ? nonNullLft : nonNullRgt;
          }
        }
      } else if (withProx) {
        let dist = abs(cursorLft - valToPosX(xValues[cursorIdx], scaleX, xDim, 0));
        if (dist > _prox)
          idx2 = null;
      }
      return idx2;
    };
  }
  const setCursorEvent = (e4) => {
    cursor.event = e4;
  };
  cursor.idxs = activeIdxs;
  cursor._lock = false;
  let points2 = cursor.points;
  points2.show = fnOrSelf(points2.show);
  points2.size = fnOrSelf(points2.size);
  points2.stroke = fnOrSelf(points2.stroke);
  points2.width = fnOrSelf(points2.width);
  points2.fill = fnOrSelf(points2.fill);
  const focus = self.focus = assign({}, opts.focus || { alpha: 0.3 }, cursor.focus);
  const cursorFocus = focus.prox >= 0;
  const cursorOnePt = cursorFocus && points2.one;
  let cursorPts = [];
  let cursorPtsLft = [];
  let cursorPtsTop = [];
  function initCursorPt(s4, si) {
    let pt = points2.show(self, si);
    if (pt instanceof HTMLElement) {
      addClass(pt, CURSOR_PT);
      addClass(pt, s4.class);
      elTrans(pt, -10, -10, plotWidCss, plotHgtCss);
      over.insertBefore(pt, cursorPts[si]);
      return pt;
    }
  }
  function initSeries(s4, i4) {
    if (mode == 1 || i4 > 0) {
      let isTime3 = mode == 1 && scales[s4.scale].time;
      let sv = s4.value;
      s4.value = isTime3 ? isStr(sv) ? timeSeriesVal(_tzDate, timeSeriesStamp(sv, _fmtDate)) : sv || _timeSeriesVal : sv || numSeriesVal;
      s4.label = s4.label || (isTime3 ? timeSeriesLabel : numSeriesLabel);
    }
    if (cursorOnePt || i4 > 0) {
      s4.width = s4.width == null ? 1 : s4.width;
      s4.paths = s4.paths || linearPath || retNull;
      s4.fillTo = fnOrSelf(s4.fillTo || seriesFillTo);
      s4.pxAlign = +ifNull(s4.pxAlign, pxAlign);
      s4.pxRound = pxRoundGen(s4.pxAlign);
      s4.stroke = fnOrSelf(s4.stroke || null);
      s4.fill = fnOrSelf(s4.fill || null);
      s4._stroke = s4._fill = s4._paths = s4._focus = null;
      let _ptDia = ptDia(max(1, s4.width), 1);
      let points3 = s4.points = assign({}, {
        size: _ptDia,
        width: max(1, _ptDia * 0.2),
        stroke: s4.stroke,
        space: _ptDia * 2,
        paths: pointsPath,
        _stroke: null,
        _fill: null
      }, s4.points);
      points3.show = fnOrSelf(points3.show);
      points3.filter = fnOrSelf(points3.filter);
      points3.fill = fnOrSelf(points3.fill);
      points3.stroke = fnOrSelf(points3.stroke);
      points3.paths = fnOrSelf(points3.paths);
      points3.pxAlign = s4.pxAlign;
    }
    if (showLegend) {
      let rowCells = initLegendRow(s4, i4);
      legendRows.splice(i4, 0, rowCells[0]);
      legendCells.splice(i4, 0, rowCells[1]);
      legend.values.push(null);
    }
    if (showCursor) {
      activeIdxs.splice(i4, 0, null);
      let pt = null;
      if (cursorOnePt) {
        if (i4 == 0)
          pt = initCursorPt(s4, i4);
      } else if (i4 > 0)
        pt = initCursorPt(s4, i4);
      cursorPts.splice(i4, 0, pt);
      cursorPtsLft.splice(i4, 0, 0);
      cursorPtsTop.splice(i4, 0, 0);
    }
    fire("addSeries", i4);
  }
  function addSeries(opts2, si) {
    si = si == null ? series.length : si;
    opts2 = mode == 1 ? setDefault(opts2, si, xSeriesOpts, ySeriesOpts) : setDefault(opts2, si, {}, xySeriesOpts);
    series.splice(si, 0, opts2);
    initSeries(series[si], si);
  }
  self.addSeries = addSeries;
  function delSeries(i4) {
    series.splice(i4, 1);
    if (showLegend) {
      legend.values.splice(i4, 1);
      legendCells.splice(i4, 1);
      let tr = legendRows.splice(i4, 1)[0];
      offMouse(null, tr.firstChild);
      tr.remove();
    }
    if (showCursor) {
      activeIdxs.splice(i4, 1);
      cursorPts.splice(i4, 1)[0].remove();
      cursorPtsLft.splice(i4, 1);
      cursorPtsTop.splice(i4, 1);
    }
    fire("delSeries", i4);
  }
  self.delSeries = delSeries;
  const sidesWithAxes = [false, false, false, false];
  function initAxis(axis, i4) {
    axis._show = axis.show;
    if (axis.show) {
      let isVt = axis.side % 2;
      let sc = scales[axis.scale];
      if (sc == null) {
        axis.scale = isVt ? series[1].scale : xScaleKey;
        sc = scales[axis.scale];
      }
      let isTime3 = sc.time;
      axis.size = fnOrSelf(axis.size);
      axis.space = fnOrSelf(axis.space);
      axis.rotate = fnOrSelf(axis.rotate);
      if (isArr(axis.incrs)) {
        axis.incrs.forEach((incr) => {
          !fixedDec.has(incr) && fixedDec.set(incr, guessDec(incr));
        });
      }
      axis.incrs = fnOrSelf(axis.incrs || (sc.distr == 2 ? wholeIncrs : isTime3 ? ms == 1 ? timeIncrsMs : timeIncrsS : numIncrs));
      axis.splits = fnOrSelf(axis.splits || (isTime3 && sc.distr == 1 ? _timeAxisSplits : sc.distr == 3 ? logAxisSplits : sc.distr == 4 ? asinhAxisSplits : numAxisSplits));
      axis.stroke = fnOrSelf(axis.stroke);
      axis.grid.stroke = fnOrSelf(axis.grid.stroke);
      axis.ticks.stroke = fnOrSelf(axis.ticks.stroke);
      axis.border.stroke = fnOrSelf(axis.border.stroke);
      let av = axis.values;
      axis.values = // static array of tick values
      isArr(av) && !isArr(av[0]) ? fnOrSelf(av) : (
        // temporal
        isTime3 ? (
          // config array of fmtDate string tpls
          isArr(av) ? timeAxisVals(_tzDate, timeAxisStamps(av, _fmtDate)) : (
            // fmtDate string tpl
            isStr(av) ? timeAxisVal(_tzDate, av) : av || _timeAxisVals
          )
        ) : av || numAxisVals
      );
      axis.filter = fnOrSelf(axis.filter || (sc.distr >= 3 && sc.log == 10 ? log10AxisValsFilt : sc.distr == 3 && sc.log == 2 ? log2AxisValsFilt : retArg1));
      axis.font = pxRatioFont(axis.font);
      axis.labelFont = pxRatioFont(axis.labelFont);
      axis._size = axis.size(self, null, i4, 0);
      axis._space = axis._rotate = axis._incrs = axis._found = // foundIncrSpace
      axis._splits = axis._values = null;
      if (axis._size > 0) {
        sidesWithAxes[i4] = true;
        axis._el = placeDiv(AXIS, wrap);
      }
    }
  }
  function autoPadSide(self2, side, sidesWithAxes2, cycleNum) {
    let [hasTopAxis, hasRgtAxis, hasBtmAxis, hasLftAxis] = sidesWithAxes2;
    let ori = side % 2;
    let size = 0;
    if (ori == 0 && (hasLftAxis || hasRgtAxis))
      size = side == 0 && !hasTopAxis || side == 2 && !hasBtmAxis ? round(xAxisOpts.size / 3) : 0;
    if (ori == 1 && (hasTopAxis || hasBtmAxis))
      size = side == 1 && !hasRgtAxis || side == 3 && !hasLftAxis ? round(yAxisOpts.size / 2) : 0;
    return size;
  }
  const padding = self.padding = (opts.padding || [autoPadSide, autoPadSide, autoPadSide, autoPadSide]).map((p5) => fnOrSelf(ifNull(p5, autoPadSide)));
  const _padding = self._padding = padding.map((p5, i4) => p5(self, i4, sidesWithAxes, 0));
  let dataLen;
  let i0 = null;
  let i1 = null;
  const idxs = mode == 1 ? series[0].idxs : null;
  let data0 = null;
  let viaAutoScaleX = false;
  function setData(_data, _resetScales) {
    data = _data == null ? [] : _data;
    self.data = self._data = data;
    if (mode == 2) {
      dataLen = 0;
      for (let i4 = 1; i4 < series.length; i4++)
        dataLen += data[i4][0].length;
    } else {
      if (data.length == 0)
        self.data = self._data = data = [[]];
      data0 = data[0];
      dataLen = data0.length;
      let scaleData = data;
      if (xScaleDistr == 2) {
        scaleData = data.slice();
        let _data0 = scaleData[0] = Array(dataLen);
        for (let i4 = 0; i4 < dataLen; i4++)
          _data0[i4] = i4;
      }
      self._data = data = scaleData;
    }
    resetYSeries(true);
    fire("setData");
    if (xScaleDistr == 2) {
      shouldConvergeSize = true;
    }
    if (_resetScales !== false) {
      let xsc = scaleX;
      if (xsc.auto(self, viaAutoScaleX))
        autoScaleX();
      else
        _setScale(xScaleKey, xsc.min, xsc.max);
      shouldSetCursor = shouldSetCursor || cursor.left >= 0;
      shouldSetLegend = true;
      commit();
    }
  }
  self.setData = setData;
  function autoScaleX() {
    viaAutoScaleX = true;
    let _min, _max;
    if (mode == 1) {
      if (dataLen > 0) {
        i0 = idxs[0] = 0;
        i1 = idxs[1] = dataLen - 1;
        _min = data[0][i0];
        _max = data[0][i1];
        if (xScaleDistr == 2) {
          _min = i0;
          _max = i1;
        } else if (_min == _max) {
          if (xScaleDistr == 3)
            [_min, _max] = rangeLog(_min, _min, scaleX.log, false);
          else if (xScaleDistr == 4)
            [_min, _max] = rangeAsinh(_min, _min, scaleX.log, false);
          else if (scaleX.time)
            _max = _min + round(86400 / ms);
          else
            [_min, _max] = rangeNum(_min, _max, rangePad, true);
        }
      } else {
        i0 = idxs[0] = _min = null;
        i1 = idxs[1] = _max = null;
      }
    }
    _setScale(xScaleKey, _min, _max);
  }
  let ctxStroke, ctxFill, ctxWidth, ctxDash, ctxJoin, ctxCap, ctxFont, ctxAlign, ctxBaseline;
  let ctxAlpha;
  function setCtxStyle(stroke, width, dash, cap, fill, join2) {
    stroke ??= transparent;
    dash ??= EMPTY_ARR;
    cap ??= "butt";
    fill ??= transparent;
    join2 ??= "round";
    if (stroke != ctxStroke)
      ctx.strokeStyle = ctxStroke = stroke;
    if (fill != ctxFill)
      ctx.fillStyle = ctxFill = fill;
    if (width != ctxWidth)
      ctx.lineWidth = ctxWidth = width;
    if (join2 != ctxJoin)
      ctx.lineJoin = ctxJoin = join2;
    if (cap != ctxCap)
      ctx.lineCap = ctxCap = cap;
    if (dash != ctxDash)
      ctx.setLineDash(ctxDash = dash);
  }
  function setFontStyle(font2, fill, align, baseline) {
    if (fill != ctxFill)
      ctx.fillStyle = ctxFill = fill;
    if (font2 != ctxFont)
      ctx.font = ctxFont = font2;
    if (align != ctxAlign)
      ctx.textAlign = ctxAlign = align;
    if (baseline != ctxBaseline)
      ctx.textBaseline = ctxBaseline = baseline;
  }
  function accScale(wsc, psc, facet2, data2, sorted = 0) {
    if (data2.length > 0 && wsc.auto(self, viaAutoScaleX) && (psc == null || psc.min == null)) {
      let _i0 = ifNull(i0, 0);
      let _i1 = ifNull(i1, data2.length - 1);
      let minMax = facet2.min == null ? getMinMax(data2, _i0, _i1, sorted, wsc.distr == 3) : [facet2.min, facet2.max];
      wsc.min = min(wsc.min, facet2.min = minMax[0]);
      wsc.max = max(wsc.max, facet2.max = minMax[1]);
    }
  }
  const AUTOSCALE = { min: null, max: null };
  function setScales() {
    for (let k4 in scales) {
      let sc = scales[k4];
      if (pendScales[k4] == null && // scales that have never been set (on init)
      (sc.min == null || // or auto scales when the x scale was explicitly set
      pendScales[xScaleKey] != null && sc.auto(self, viaAutoScaleX))) {
        pendScales[k4] = AUTOSCALE;
      }
    }
    for (let k4 in scales) {
      let sc = scales[k4];
      if (pendScales[k4] == null && sc.from != null && pendScales[sc.from] != null)
        pendScales[k4] = AUTOSCALE;
    }
    if (pendScales[xScaleKey] != null)
      resetYSeries(true);
    let wipScales = {};
    for (let k4 in pendScales) {
      let psc = pendScales[k4];
      if (psc != null) {
        let wsc = wipScales[k4] = copy2(scales[k4], fastIsObj);
        if (psc.min != null)
          assign(wsc, psc);
        else if (k4 != xScaleKey || mode == 2) {
          if (dataLen == 0 && wsc.from == null) {
            let minMax = wsc.range(self, null, null, k4);
            wsc.min = minMax[0];
            wsc.max = minMax[1];
          } else {
            wsc.min = inf;
            wsc.max = -inf;
          }
        }
      }
    }
    if (dataLen > 0) {
      series.forEach((s4, i4) => {
        if (mode == 1) {
          let k4 = s4.scale;
          let psc = pendScales[k4];
          if (psc == null)
            return;
          let wsc = wipScales[k4];
          if (i4 == 0) {
            let minMax = wsc.range(self, wsc.min, wsc.max, k4);
            wsc.min = minMax[0];
            wsc.max = minMax[1];
            i0 = closestIdx(wsc.min, data[0]);
            i1 = closestIdx(wsc.max, data[0]);
            if (i1 - i0 > 1) {
              if (data[0][i0] < wsc.min)
                i0++;
              if (data[0][i1] > wsc.max)
                i1--;
            }
            s4.min = data0[i0];
            s4.max = data0[i1];
          } else if (s4.show && s4.auto)
            accScale(wsc, psc, s4, data[i4], s4.sorted);
          s4.idxs[0] = i0;
          s4.idxs[1] = i1;
        } else {
          if (i4 > 0) {
            if (s4.show && s4.auto) {
              let [xFacet, yFacet] = s4.facets;
              let xScaleKey2 = xFacet.scale;
              let yScaleKey = yFacet.scale;
              let [xData, yData] = data[i4];
              let wscx = wipScales[xScaleKey2];
              let wscy = wipScales[yScaleKey];
              wscx != null && accScale(wscx, pendScales[xScaleKey2], xFacet, xData, xFacet.sorted);
              wscy != null && accScale(wscy, pendScales[yScaleKey], yFacet, yData, yFacet.sorted);
              s4.min = yFacet.min;
              s4.max = yFacet.max;
            }
          }
        }
      });
      for (let k4 in wipScales) {
        let wsc = wipScales[k4];
        let psc = pendScales[k4];
        if (wsc.from == null && (psc == null || psc.min == null)) {
          let minMax = wsc.range(
            self,
            wsc.min == inf ? null : wsc.min,
            wsc.max == -inf ? null : wsc.max,
            k4
          );
          wsc.min = minMax[0];
          wsc.max = minMax[1];
        }
      }
    }
    for (let k4 in wipScales) {
      let wsc = wipScales[k4];
      if (wsc.from != null) {
        let base2 = wipScales[wsc.from];
        if (base2.min == null)
          wsc.min = wsc.max = null;
        else {
          let minMax = wsc.range(self, base2.min, base2.max, k4);
          wsc.min = minMax[0];
          wsc.max = minMax[1];
        }
      }
    }
    let changed = {};
    let anyChanged = false;
    for (let k4 in wipScales) {
      let wsc = wipScales[k4];
      let sc = scales[k4];
      if (sc.min != wsc.min || sc.max != wsc.max) {
        sc.min = wsc.min;
        sc.max = wsc.max;
        let distr = sc.distr;
        sc._min = distr == 3 ? log10(sc.min) : distr == 4 ? asinh(sc.min, sc.asinh) : distr == 100 ? sc.fwd(sc.min) : sc.min;
        sc._max = distr == 3 ? log10(sc.max) : distr == 4 ? asinh(sc.max, sc.asinh) : distr == 100 ? sc.fwd(sc.max) : sc.max;
        changed[k4] = anyChanged = true;
      }
    }
    if (anyChanged) {
      series.forEach((s4, i4) => {
        if (mode == 2) {
          if (i4 > 0 && changed.y)
            s4._paths = null;
        } else {
          if (changed[s4.scale])
            s4._paths = null;
        }
      });
      for (let k4 in changed) {
        shouldConvergeSize = true;
        fire("setScale", k4);
      }
      if (showCursor && cursor.left >= 0)
        shouldSetCursor = shouldSetLegend = true;
    }
    for (let k4 in pendScales)
      pendScales[k4] = null;
  }
  function getOuterIdxs(ydata) {
    let _i0 = clamp(i0 - 1, 0, dataLen - 1);
    let _i1 = clamp(i1 + 1, 0, dataLen - 1);
    while (ydata[_i0] == null && _i0 > 0)
      _i0--;
    while (ydata[_i1] == null && _i1 < dataLen - 1)
      _i1++;
    return [_i0, _i1];
  }
  function drawSeries() {
    if (dataLen > 0) {
      let shouldAlpha = series.some((s4) => s4._focus) && ctxAlpha != focus.alpha;
      if (shouldAlpha)
        ctx.globalAlpha = ctxAlpha = focus.alpha;
      series.forEach((s4, i4) => {
        if (i4 > 0 && s4.show) {
          cacheStrokeFill(i4, false);
          cacheStrokeFill(i4, true);
          if (s4._paths == null) {
            let _ctxAlpha = ctxAlpha;
            if (ctxAlpha != s4.alpha)
              ctx.globalAlpha = ctxAlpha = s4.alpha;
            let _idxs = mode == 2 ? [0, data[i4][0].length - 1] : getOuterIdxs(data[i4]);
            s4._paths = s4.paths(self, i4, _idxs[0], _idxs[1]);
            if (ctxAlpha != _ctxAlpha)
              ctx.globalAlpha = ctxAlpha = _ctxAlpha;
          }
        }
      });
      series.forEach((s4, i4) => {
        if (i4 > 0 && s4.show) {
          let _ctxAlpha = ctxAlpha;
          if (ctxAlpha != s4.alpha)
            ctx.globalAlpha = ctxAlpha = s4.alpha;
          s4._paths != null && drawPath(i4, false);
          {
            let _gaps = s4._paths != null ? s4._paths.gaps : null;
            let show2 = s4.points.show(self, i4, i0, i1, _gaps);
            let idxs2 = s4.points.filter(self, i4, show2, _gaps);
            if (show2 || idxs2) {
              s4.points._paths = s4.points.paths(self, i4, i0, i1, idxs2);
              drawPath(i4, true);
            }
          }
          if (ctxAlpha != _ctxAlpha)
            ctx.globalAlpha = ctxAlpha = _ctxAlpha;
          fire("drawSeries", i4);
        }
      });
      if (shouldAlpha)
        ctx.globalAlpha = ctxAlpha = 1;
    }
  }
  function cacheStrokeFill(si, _points) {
    let s4 = _points ? series[si].points : series[si];
    s4._stroke = s4.stroke(self, si);
    s4._fill = s4.fill(self, si);
  }
  function drawPath(si, _points) {
    let s4 = _points ? series[si].points : series[si];
    let {
      stroke,
      fill,
      clip: gapsClip,
      flags,
      _stroke: strokeStyle = s4._stroke,
      _fill: fillStyle = s4._fill,
      _width: width = s4.width
    } = s4._paths;
    width = roundDec(width * pxRatio, 3);
    let boundsClip = null;
    let offset = width % 2 / 2;
    if (_points && fillStyle == null)
      fillStyle = width > 0 ? "#fff" : strokeStyle;
    let _pxAlign = s4.pxAlign == 1 && offset > 0;
    _pxAlign && ctx.translate(offset, offset);
    if (!_points) {
      let lft = plotLft - width / 2, top = plotTop - width / 2, wid = plotWid + width, hgt = plotHgt + width;
      boundsClip = new Path2D();
      boundsClip.rect(lft, top, wid, hgt);
    }
    if (_points)
      strokeFill(strokeStyle, width, s4.dash, s4.cap, fillStyle, stroke, fill, flags, gapsClip);
    else
      fillStroke(si, strokeStyle, width, s4.dash, s4.cap, fillStyle, stroke, fill, flags, boundsClip, gapsClip);
    _pxAlign && ctx.translate(-offset, -offset);
  }
  function fillStroke(si, strokeStyle, lineWidth, lineDash, lineCap, fillStyle, strokePath, fillPath, flags, boundsClip, gapsClip) {
    let didStrokeFill = false;
    flags != 0 && bands.forEach((b3, bi) => {
      if (b3.series[0] == si) {
        let lowerEdge = series[b3.series[1]];
        let lowerData = data[b3.series[1]];
        let bandClip = (lowerEdge._paths || EMPTY_OBJ).band;
        if (isArr(bandClip))
          bandClip = b3.dir == 1 ? bandClip[0] : bandClip[1];
        let gapsClip2;
        let _fillStyle = null;
        if (lowerEdge.show && bandClip && hasData(lowerData, i0, i1)) {
          _fillStyle = b3.fill(self, bi) || fillStyle;
          gapsClip2 = lowerEdge._paths.clip;
        } else
          bandClip = null;
        strokeFill(strokeStyle, lineWidth, lineDash, lineCap, _fillStyle, strokePath, fillPath, flags, boundsClip, gapsClip, gapsClip2, bandClip);
        didStrokeFill = true;
      }
    });
    if (!didStrokeFill)
      strokeFill(strokeStyle, lineWidth, lineDash, lineCap, fillStyle, strokePath, fillPath, flags, boundsClip, gapsClip);
  }
  const CLIP_FILL_STROKE = BAND_CLIP_FILL | BAND_CLIP_STROKE;
  function strokeFill(strokeStyle, lineWidth, lineDash, lineCap, fillStyle, strokePath, fillPath, flags, boundsClip, gapsClip, gapsClip2, bandClip) {
    setCtxStyle(strokeStyle, lineWidth, lineDash, lineCap, fillStyle);
    if (boundsClip || gapsClip || bandClip) {
      ctx.save();
      boundsClip && ctx.clip(boundsClip);
      gapsClip && ctx.clip(gapsClip);
    }
    if (bandClip) {
      if ((flags & CLIP_FILL_STROKE) == CLIP_FILL_STROKE) {
        ctx.clip(bandClip);
        gapsClip2 && ctx.clip(gapsClip2);
        doFill(fillStyle, fillPath);
        doStroke(strokeStyle, strokePath, lineWidth);
      } else if (flags & BAND_CLIP_STROKE) {
        doFill(fillStyle, fillPath);
        ctx.clip(bandClip);
        doStroke(strokeStyle, strokePath, lineWidth);
      } else if (flags & BAND_CLIP_FILL) {
        ctx.save();
        ctx.clip(bandClip);
        gapsClip2 && ctx.clip(gapsClip2);
        doFill(fillStyle, fillPath);
        ctx.restore();
        doStroke(strokeStyle, strokePath, lineWidth);
      }
    } else {
      doFill(fillStyle, fillPath);
      doStroke(strokeStyle, strokePath, lineWidth);
    }
    if (boundsClip || gapsClip || bandClip)
      ctx.restore();
  }
  function doStroke(strokeStyle, strokePath, lineWidth) {
    if (lineWidth > 0) {
      if (strokePath instanceof Map) {
        strokePath.forEach((strokePath2, strokeStyle2) => {
          ctx.strokeStyle = ctxStroke = strokeStyle2;
          ctx.stroke(strokePath2);
        });
      } else
        strokePath != null && strokeStyle && ctx.stroke(strokePath);
    }
  }
  function doFill(fillStyle, fillPath) {
    if (fillPath instanceof Map) {
      fillPath.forEach((fillPath2, fillStyle2) => {
        ctx.fillStyle = ctxFill = fillStyle2;
        ctx.fill(fillPath2);
      });
    } else
      fillPath != null && fillStyle && ctx.fill(fillPath);
  }
  function getIncrSpace(axisIdx, min2, max2, fullDim) {
    let axis = axes[axisIdx];
    let incrSpace;
    if (fullDim <= 0)
      incrSpace = [0, 0];
    else {
      let minSpace = axis._space = axis.space(self, axisIdx, min2, max2, fullDim);
      let incrs = axis._incrs = axis.incrs(self, axisIdx, min2, max2, fullDim, minSpace);
      incrSpace = findIncr(min2, max2, incrs, fullDim, minSpace);
    }
    return axis._found = incrSpace;
  }
  function drawOrthoLines(offs, filts, ori, side, pos0, len, width, stroke, dash, cap) {
    let offset = width % 2 / 2;
    pxAlign == 1 && ctx.translate(offset, offset);
    setCtxStyle(stroke, width, dash, cap, stroke);
    ctx.beginPath();
    let x0, y0, x1, y1, pos1 = pos0 + (side == 0 || side == 3 ? -len : len);
    if (ori == 0) {
      y0 = pos0;
      y1 = pos1;
    } else {
      x0 = pos0;
      x1 = pos1;
    }
    for (let i4 = 0; i4 < offs.length; i4++) {
      if (filts[i4] != null) {
        if (ori == 0)
          x0 = x1 = offs[i4];
        else
          y0 = y1 = offs[i4];
        ctx.moveTo(x0, y0);
        ctx.lineTo(x1, y1);
      }
    }
    ctx.stroke();
    pxAlign == 1 && ctx.translate(-offset, -offset);
  }
  function axesCalc(cycleNum) {
    let converged = true;
    axes.forEach((axis, i4) => {
      if (!axis.show)
        return;
      let scale = scales[axis.scale];
      if (scale.min == null) {
        if (axis._show) {
          converged = false;
          axis._show = false;
          resetYSeries(false);
        }
        return;
      } else {
        if (!axis._show) {
          converged = false;
          axis._show = true;
          resetYSeries(false);
        }
      }
      let side = axis.side;
      let ori = side % 2;
      let { min: min2, max: max2 } = scale;
      let [_incr, _space] = getIncrSpace(i4, min2, max2, ori == 0 ? plotWidCss : plotHgtCss);
      if (_space == 0)
        return;
      let forceMin = scale.distr == 2;
      let _splits = axis._splits = axis.splits(self, i4, min2, max2, _incr, _space, forceMin);
      let splits = scale.distr == 2 ? _splits.map((i5) => data0[i5]) : _splits;
      let incr = scale.distr == 2 ? data0[_splits[1]] - data0[_splits[0]] : _incr;
      let values = axis._values = axis.values(self, axis.filter(self, splits, i4, _space, incr), i4, _space, incr);
      axis._rotate = side == 2 ? axis.rotate(self, values, i4, _space) : 0;
      let oldSize = axis._size;
      axis._size = ceil(axis.size(self, values, i4, cycleNum));
      if (oldSize != null && axis._size != oldSize)
        converged = false;
    });
    return converged;
  }
  function paddingCalc(cycleNum) {
    let converged = true;
    padding.forEach((p5, i4) => {
      let _p = p5(self, i4, sidesWithAxes, cycleNum);
      if (_p != _padding[i4])
        converged = false;
      _padding[i4] = _p;
    });
    return converged;
  }
  function drawAxesGrid() {
    for (let i4 = 0; i4 < axes.length; i4++) {
      let axis = axes[i4];
      if (!axis.show || !axis._show)
        continue;
      let side = axis.side;
      let ori = side % 2;
      let x3, y5;
      let fillStyle = axis.stroke(self, i4);
      let shiftDir = side == 0 || side == 3 ? -1 : 1;
      let [_incr, _space] = axis._found;
      if (axis.label != null) {
        let shiftAmt2 = axis.labelGap * shiftDir;
        let baseLpos = round((axis._lpos + shiftAmt2) * pxRatio);
        setFontStyle(axis.labelFont[0], fillStyle, "center", side == 2 ? TOP : BOTTOM);
        ctx.save();
        if (ori == 1) {
          x3 = y5 = 0;
          ctx.translate(
            baseLpos,
            round(plotTop + plotHgt / 2)
          );
          ctx.rotate((side == 3 ? -PI : PI) / 2);
        } else {
          x3 = round(plotLft + plotWid / 2);
          y5 = baseLpos;
        }
        let _label = isFn(axis.label) ? axis.label(self, i4, _incr, _space) : axis.label;
        ctx.fillText(_label, x3, y5);
        ctx.restore();
      }
      if (_space == 0)
        continue;
      let scale = scales[axis.scale];
      let plotDim = ori == 0 ? plotWid : plotHgt;
      let plotOff = ori == 0 ? plotLft : plotTop;
      let _splits = axis._splits;
      let splits = scale.distr == 2 ? _splits.map((i5) => data0[i5]) : _splits;
      let incr = scale.distr == 2 ? data0[_splits[1]] - data0[_splits[0]] : _incr;
      let ticks2 = axis.ticks;
      let border2 = axis.border;
      let _tickSize = ticks2.show ? ticks2.size : 0;
      let tickSize = round(_tickSize * pxRatio);
      let axisGap = round((axis.alignTo == 2 ? axis._size - _tickSize - axis.gap : axis.gap) * pxRatio);
      let angle = axis._rotate * -PI / 180;
      let basePos = pxRound(axis._pos * pxRatio);
      let shiftAmt = (tickSize + axisGap) * shiftDir;
      let finalPos = basePos + shiftAmt;
      y5 = ori == 0 ? finalPos : 0;
      x3 = ori == 1 ? finalPos : 0;
      let font2 = axis.font[0];
      let textAlign = axis.align == 1 ? LEFT : axis.align == 2 ? RIGHT : angle > 0 ? LEFT : angle < 0 ? RIGHT : ori == 0 ? "center" : side == 3 ? RIGHT : LEFT;
      let textBaseline = angle || ori == 1 ? "middle" : side == 2 ? TOP : BOTTOM;
      setFontStyle(font2, fillStyle, textAlign, textBaseline);
      let lineHeight = axis.font[1] * axis.lineGap;
      let canOffs = _splits.map((val) => pxRound(getPos(val, scale, plotDim, plotOff)));
      let _values = axis._values;
      for (let i5 = 0; i5 < _values.length; i5++) {
        let val = _values[i5];
        if (val != null) {
          if (ori == 0)
            x3 = canOffs[i5];
          else
            y5 = canOffs[i5];
          val = "" + val;
          let _parts = val.indexOf("\n") == -1 ? [val] : val.split(/\n/gm);
          for (let j3 = 0; j3 < _parts.length; j3++) {
            let text = _parts[j3];
            if (angle) {
              ctx.save();
              ctx.translate(x3, y5 + j3 * lineHeight);
              ctx.rotate(angle);
              ctx.fillText(text, 0, 0);
              ctx.restore();
            } else
              ctx.fillText(text, x3, y5 + j3 * lineHeight);
          }
        }
      }
      if (ticks2.show) {
        drawOrthoLines(
          canOffs,
          ticks2.filter(self, splits, i4, _space, incr),
          ori,
          side,
          basePos,
          tickSize,
          roundDec(ticks2.width * pxRatio, 3),
          ticks2.stroke(self, i4),
          ticks2.dash,
          ticks2.cap
        );
      }
      let grid2 = axis.grid;
      if (grid2.show) {
        drawOrthoLines(
          canOffs,
          grid2.filter(self, splits, i4, _space, incr),
          ori,
          ori == 0 ? 2 : 1,
          ori == 0 ? plotTop : plotLft,
          ori == 0 ? plotHgt : plotWid,
          roundDec(grid2.width * pxRatio, 3),
          grid2.stroke(self, i4),
          grid2.dash,
          grid2.cap
        );
      }
      if (border2.show) {
        drawOrthoLines(
          [basePos],
          [1],
          ori == 0 ? 1 : 0,
          ori == 0 ? 1 : 2,
          ori == 1 ? plotTop : plotLft,
          ori == 1 ? plotHgt : plotWid,
          roundDec(border2.width * pxRatio, 3),
          border2.stroke(self, i4),
          border2.dash,
          border2.cap
        );
      }
    }
    fire("drawAxes");
  }
  function resetYSeries(minMax) {
    series.forEach((s4, i4) => {
      if (i4 > 0) {
        s4._paths = null;
        if (minMax) {
          if (mode == 1) {
            s4.min = null;
            s4.max = null;
          } else {
            s4.facets.forEach((f5) => {
              f5.min = null;
              f5.max = null;
            });
          }
        }
      }
    });
  }
  let queuedCommit = false;
  let deferHooks = false;
  let hooksQueue = [];
  function flushHooks() {
    deferHooks = false;
    for (let i4 = 0; i4 < hooksQueue.length; i4++)
      fire(...hooksQueue[i4]);
    hooksQueue.length = 0;
  }
  function commit() {
    if (!queuedCommit) {
      microTask(_commit);
      queuedCommit = true;
    }
  }
  function batch(fn, _deferHooks = false) {
    queuedCommit = true;
    deferHooks = _deferHooks;
    fn(self);
    _commit();
    if (_deferHooks && hooksQueue.length > 0)
      queueMicrotask(flushHooks);
  }
  self.batch = batch;
  function _commit() {
    if (shouldSetScales) {
      setScales();
      shouldSetScales = false;
    }
    if (shouldConvergeSize) {
      convergeSize();
      shouldConvergeSize = false;
    }
    if (shouldSetSize) {
      setStylePx(under, LEFT, plotLftCss);
      setStylePx(under, TOP, plotTopCss);
      setStylePx(under, WIDTH2, plotWidCss);
      setStylePx(under, HEIGHT, plotHgtCss);
      setStylePx(over, LEFT, plotLftCss);
      setStylePx(over, TOP, plotTopCss);
      setStylePx(over, WIDTH2, plotWidCss);
      setStylePx(over, HEIGHT, plotHgtCss);
      setStylePx(wrap, WIDTH2, fullWidCss);
      setStylePx(wrap, HEIGHT, fullHgtCss);
      can.width = round(fullWidCss * pxRatio);
      can.height = round(fullHgtCss * pxRatio);
      axes.forEach(({ _el, _show, _size, _pos, side }) => {
        if (_el != null) {
          if (_show) {
            let posOffset = side === 3 || side === 0 ? _size : 0;
            let isVt = side % 2 == 1;
            setStylePx(_el, isVt ? "left" : "top", _pos - posOffset);
            setStylePx(_el, isVt ? "width" : "height", _size);
            setStylePx(_el, isVt ? "top" : "left", isVt ? plotTopCss : plotLftCss);
            setStylePx(_el, isVt ? "height" : "width", isVt ? plotHgtCss : plotWidCss);
            remClass(_el, OFF);
          } else
            addClass(_el, OFF);
        }
      });
      ctxStroke = ctxFill = ctxWidth = ctxJoin = ctxCap = ctxFont = ctxAlign = ctxBaseline = ctxDash = null;
      ctxAlpha = 1;
      syncRect(true);
      if (plotLftCss != _plotLftCss || plotTopCss != _plotTopCss || plotWidCss != _plotWidCss || plotHgtCss != _plotHgtCss) {
        resetYSeries(false);
        let pctWid = plotWidCss / _plotWidCss;
        let pctHgt = plotHgtCss / _plotHgtCss;
        if (showCursor && !shouldSetCursor && cursor.left >= 0) {
          cursor.left *= pctWid;
          cursor.top *= pctHgt;
          vCursor && elTrans(vCursor, round(cursor.left), 0, plotWidCss, plotHgtCss);
          hCursor && elTrans(hCursor, 0, round(cursor.top), plotWidCss, plotHgtCss);
          for (let i4 = 0; i4 < cursorPts.length; i4++) {
            let pt = cursorPts[i4];
            if (pt != null) {
              cursorPtsLft[i4] *= pctWid;
              cursorPtsTop[i4] *= pctHgt;
              elTrans(pt, ceil(cursorPtsLft[i4]), ceil(cursorPtsTop[i4]), plotWidCss, plotHgtCss);
            }
          }
        }
        if (select.show && !shouldSetSelect && select.left >= 0 && select.width > 0) {
          select.left *= pctWid;
          select.width *= pctWid;
          select.top *= pctHgt;
          select.height *= pctHgt;
          for (let prop in _hideProps)
            setStylePx(selectDiv, prop, select[prop]);
        }
        _plotLftCss = plotLftCss;
        _plotTopCss = plotTopCss;
        _plotWidCss = plotWidCss;
        _plotHgtCss = plotHgtCss;
      }
      fire("setSize");
      shouldSetSize = false;
    }
    if (fullWidCss > 0 && fullHgtCss > 0) {
      ctx.clearRect(0, 0, can.width, can.height);
      fire("drawClear");
      drawOrder.forEach((fn) => fn());
      fire("draw");
    }
    if (select.show && shouldSetSelect) {
      setSelect(select);
      shouldSetSelect = false;
    }
    if (showCursor && shouldSetCursor) {
      updateCursor(null, true, false);
      shouldSetCursor = false;
    }
    if (legend.show && legend.live && shouldSetLegend) {
      setLegend();
      shouldSetLegend = false;
    }
    if (!ready) {
      ready = true;
      self.status = 1;
      fire("ready");
    }
    viaAutoScaleX = false;
    queuedCommit = false;
  }
  self.redraw = (rebuildPaths, recalcAxes) => {
    shouldConvergeSize = recalcAxes || false;
    if (rebuildPaths !== false)
      _setScale(xScaleKey, scaleX.min, scaleX.max);
    else
      commit();
  };
  function setScale(key4, opts2) {
    let sc = scales[key4];
    if (sc.from == null) {
      if (dataLen == 0) {
        let minMax = sc.range(self, opts2.min, opts2.max, key4);
        opts2.min = minMax[0];
        opts2.max = minMax[1];
      }
      if (opts2.min > opts2.max) {
        let _min = opts2.min;
        opts2.min = opts2.max;
        opts2.max = _min;
      }
      if (dataLen > 1 && opts2.min != null && opts2.max != null && opts2.max - opts2.min < 1e-16)
        return;
      if (key4 == xScaleKey) {
        if (sc.distr == 2 && dataLen > 0) {
          opts2.min = closestIdx(opts2.min, data[0]);
          opts2.max = closestIdx(opts2.max, data[0]);
          if (opts2.min == opts2.max)
            opts2.max++;
        }
      }
      pendScales[key4] = opts2;
      shouldSetScales = true;
      commit();
    }
  }
  self.setScale = setScale;
  let xCursor;
  let yCursor;
  let vCursor;
  let hCursor;
  let rawMouseLeft0;
  let rawMouseTop0;
  let mouseLeft0;
  let mouseTop0;
  let rawMouseLeft1;
  let rawMouseTop1;
  let mouseLeft1;
  let mouseTop1;
  let dragging = false;
  const drag = cursor.drag;
  let dragX = drag.x;
  let dragY = drag.y;
  if (showCursor) {
    if (cursor.x)
      xCursor = placeDiv(CURSOR_X, over);
    if (cursor.y)
      yCursor = placeDiv(CURSOR_Y, over);
    if (scaleX.ori == 0) {
      vCursor = xCursor;
      hCursor = yCursor;
    } else {
      vCursor = yCursor;
      hCursor = xCursor;
    }
    mouseLeft1 = cursor.left;
    mouseTop1 = cursor.top;
  }
  const select = self.select = assign({
    show: true,
    over: true,
    left: 0,
    width: 0,
    top: 0,
    height: 0
  }, opts.select);
  const selectDiv = select.show ? placeDiv(SELECT, select.over ? over : under) : null;
  function setSelect(opts2, _fire) {
    if (select.show) {
      for (let prop in opts2) {
        select[prop] = opts2[prop];
        if (prop in _hideProps)
          setStylePx(selectDiv, prop, opts2[prop]);
      }
      _fire !== false && fire("setSelect");
    }
  }
  self.setSelect = setSelect;
  function toggleDOM(i4) {
    let s4 = series[i4];
    if (s4.show)
      showLegend && remClass(legendRows[i4], OFF);
    else {
      showLegend && addClass(legendRows[i4], OFF);
      if (showCursor) {
        let pt = cursorOnePt ? cursorPts[0] : cursorPts[i4];
        pt != null && elTrans(pt, -10, -10, plotWidCss, plotHgtCss);
      }
    }
  }
  function _setScale(key4, min2, max2) {
    setScale(key4, { min: min2, max: max2 });
  }
  function setSeries(i4, opts2, _fire, _pub) {
    if (opts2.focus != null)
      setFocus(i4);
    if (opts2.show != null) {
      series.forEach((s4, si) => {
        if (si > 0 && (i4 == si || i4 == null)) {
          s4.show = opts2.show;
          toggleDOM(si);
          if (mode == 2) {
            _setScale(s4.facets[0].scale, null, null);
            _setScale(s4.facets[1].scale, null, null);
          } else
            _setScale(s4.scale, null, null);
          commit();
        }
      });
    }
    _fire !== false && fire("setSeries", i4, opts2);
    _pub && pubSync("setSeries", self, i4, opts2);
  }
  self.setSeries = setSeries;
  function setBand(bi, opts2) {
    assign(bands[bi], opts2);
  }
  function addBand(opts2, bi) {
    opts2.fill = fnOrSelf(opts2.fill || null);
    opts2.dir = ifNull(opts2.dir, -1);
    bi = bi == null ? bands.length : bi;
    bands.splice(bi, 0, opts2);
  }
  function delBand(bi) {
    if (bi == null)
      bands.length = 0;
    else
      bands.splice(bi, 1);
  }
  self.addBand = addBand;
  self.setBand = setBand;
  self.delBand = delBand;
  function setAlpha(i4, value) {
    series[i4].alpha = value;
    if (showCursor && cursorPts[i4] != null)
      cursorPts[i4].style.opacity = value;
    if (showLegend && legendRows[i4])
      legendRows[i4].style.opacity = value;
  }
  let closestDist;
  let closestSeries;
  let focusedSeries;
  const FOCUS_TRUE = { focus: true };
  function setFocus(i4) {
    if (i4 != focusedSeries) {
      let allFocused = i4 == null;
      let _setAlpha = focus.alpha != 1;
      series.forEach((s4, i22) => {
        if (mode == 1 || i22 > 0) {
          let isFocused = allFocused || i22 == 0 || i22 == i4;
          s4._focus = allFocused ? null : isFocused;
          _setAlpha && setAlpha(i22, isFocused ? 1 : focus.alpha);
        }
      });
      focusedSeries = i4;
      _setAlpha && commit();
    }
  }
  if (showLegend && cursorFocus) {
    onMouse(mouseleave, legendTable, (e4) => {
      if (cursor._lock)
        return;
      setCursorEvent(e4);
      if (focusedSeries != null)
        setSeries(null, FOCUS_TRUE, true, syncOpts.setSeries);
    });
  }
  function posToVal(pos, scale, can2) {
    let sc = scales[scale];
    if (can2)
      pos = pos / pxRatio - (sc.ori == 1 ? plotTopCss : plotLftCss);
    let dim = plotWidCss;
    if (sc.ori == 1) {
      dim = plotHgtCss;
      pos = dim - pos;
    }
    if (sc.dir == -1)
      pos = dim - pos;
    let _min = sc._min, _max = sc._max, pct = pos / dim;
    let sv = _min + (_max - _min) * pct;
    let distr = sc.distr;
    return distr == 3 ? pow(10, sv) : distr == 4 ? sinh(sv, sc.asinh) : distr == 100 ? sc.bwd(sv) : sv;
  }
  function closestIdxFromXpos(pos, can2) {
    let v4 = posToVal(pos, xScaleKey, can2);
    return closestIdx(v4, data[0], i0, i1);
  }
  self.valToIdx = (val) => closestIdx(val, data[0]);
  self.posToIdx = closestIdxFromXpos;
  self.posToVal = posToVal;
  self.valToPos = (val, scale, can2) => scales[scale].ori == 0 ? getHPos(
    val,
    scales[scale],
    can2 ? plotWid : plotWidCss,
    can2 ? plotLft : 0
  ) : getVPos(
    val,
    scales[scale],
    can2 ? plotHgt : plotHgtCss,
    can2 ? plotTop : 0
  );
  self.setCursor = (opts2, _fire, _pub) => {
    mouseLeft1 = opts2.left;
    mouseTop1 = opts2.top;
    updateCursor(null, _fire, _pub);
  };
  function setSelH(off2, dim) {
    setStylePx(selectDiv, LEFT, select.left = off2);
    setStylePx(selectDiv, WIDTH2, select.width = dim);
  }
  function setSelV(off2, dim) {
    setStylePx(selectDiv, TOP, select.top = off2);
    setStylePx(selectDiv, HEIGHT, select.height = dim);
  }
  let setSelX = scaleX.ori == 0 ? setSelH : setSelV;
  let setSelY = scaleX.ori == 1 ? setSelH : setSelV;
  function syncLegend() {
    if (showLegend && legend.live) {
      for (let i4 = mode == 2 ? 1 : 0; i4 < series.length; i4++) {
        if (i4 == 0 && multiValLegend)
          continue;
        let vals = legend.values[i4];
        let j3 = 0;
        for (let k4 in vals)
          legendCells[i4][j3++].firstChild.nodeValue = vals[k4];
      }
    }
  }
  function setLegend(opts2, _fire) {
    if (opts2 != null) {
      if (opts2.idxs) {
        opts2.idxs.forEach((didx, sidx) => {
          activeIdxs[sidx] = didx;
        });
      } else if (!isUndef(opts2.idx))
        activeIdxs.fill(opts2.idx);
      legend.idx = activeIdxs[0];
    }
    if (showLegend && legend.live) {
      for (let sidx = 0; sidx < series.length; sidx++) {
        if (sidx > 0 || mode == 1 && !multiValLegend)
          setLegendValues(sidx, activeIdxs[sidx]);
      }
      syncLegend();
    }
    shouldSetLegend = false;
    _fire !== false && fire("setLegend");
  }
  self.setLegend = setLegend;
  function setLegendValues(sidx, idx) {
    let s4 = series[sidx];
    let src = sidx == 0 && xScaleDistr == 2 ? data0 : data[sidx];
    let val;
    if (multiValLegend)
      val = s4.values(self, sidx, idx) ?? NULL_LEGEND_VALUES;
    else {
      val = s4.value(self, idx == null ? null : src[idx], sidx, idx);
      val = val == null ? NULL_LEGEND_VALUES : { _: val };
    }
    legend.values[sidx] = val;
  }
  function updateCursor(src, _fire, _pub) {
    rawMouseLeft1 = mouseLeft1;
    rawMouseTop1 = mouseTop1;
    [mouseLeft1, mouseTop1] = cursor.move(self, mouseLeft1, mouseTop1);
    cursor.left = mouseLeft1;
    cursor.top = mouseTop1;
    if (showCursor) {
      vCursor && elTrans(vCursor, round(mouseLeft1), 0, plotWidCss, plotHgtCss);
      hCursor && elTrans(hCursor, 0, round(mouseTop1), plotWidCss, plotHgtCss);
    }
    let idx;
    let noDataInRange = i0 > i1;
    closestDist = inf;
    closestSeries = null;
    let xDim = scaleX.ori == 0 ? plotWidCss : plotHgtCss;
    let yDim = scaleX.ori == 1 ? plotWidCss : plotHgtCss;
    if (mouseLeft1 < 0 || dataLen == 0 || noDataInRange) {
      idx = cursor.idx = null;
      for (let i4 = 0; i4 < series.length; i4++) {
        let pt = cursorPts[i4];
        pt != null && elTrans(pt, -10, -10, plotWidCss, plotHgtCss);
      }
      if (cursorFocus)
        setSeries(null, FOCUS_TRUE, true, src == null && syncOpts.setSeries);
      if (legend.live) {
        activeIdxs.fill(idx);
        shouldSetLegend = true;
      }
    } else {
      let mouseXPos, valAtPosX, xPos;
      if (mode == 1) {
        mouseXPos = scaleX.ori == 0 ? mouseLeft1 : mouseTop1;
        valAtPosX = posToVal(mouseXPos, xScaleKey);
        idx = cursor.idx = closestIdx(valAtPosX, data[0], i0, i1);
        xPos = valToPosX(data[0][idx], scaleX, xDim, 0);
      }
      let _ptLft = -10;
      let _ptTop = -10;
      let _ptWid = 0;
      let _ptHgt = 0;
      let _centered = true;
      let _ptFill = "";
      let _ptStroke = "";
      for (let i4 = mode == 2 ? 1 : 0; i4 < series.length; i4++) {
        let s4 = series[i4];
        let idx1 = activeIdxs[i4];
        let yVal1 = idx1 == null ? null : mode == 1 ? data[i4][idx1] : data[i4][1][idx1];
        let idx2 = cursor.dataIdx(self, i4, idx, valAtPosX);
        let yVal2 = idx2 == null ? null : mode == 1 ? data[i4][idx2] : data[i4][1][idx2];
        shouldSetLegend = shouldSetLegend || yVal2 != yVal1 || idx2 != idx1;
        activeIdxs[i4] = idx2;
        if (i4 > 0 && s4.show) {
          let xPos2 = idx2 == null ? -10 : idx2 == idx ? xPos : valToPosX(mode == 1 ? data[0][idx2] : data[i4][0][idx2], scaleX, xDim, 0);
          let yPos = yVal2 == null ? -10 : valToPosY(yVal2, mode == 1 ? scales[s4.scale] : scales[s4.facets[1].scale], yDim, 0);
          if (cursorFocus && yVal2 != null) {
            let mouseYPos = scaleX.ori == 1 ? mouseLeft1 : mouseTop1;
            let dist = abs(focus.dist(self, i4, idx2, yPos, mouseYPos));
            if (dist < closestDist) {
              let bias = focus.bias;
              if (bias != 0) {
                let mouseYVal = posToVal(mouseYPos, s4.scale);
                let seriesYValSign = yVal2 >= 0 ? 1 : -1;
                let mouseYValSign = mouseYVal >= 0 ? 1 : -1;
                if (mouseYValSign == seriesYValSign && (mouseYValSign == 1 ? bias == 1 ? yVal2 >= mouseYVal : yVal2 <= mouseYVal : (
                  // >= 0
                  bias == 1 ? yVal2 <= mouseYVal : yVal2 >= mouseYVal
                ))) {
                  closestDist = dist;
                  closestSeries = i4;
                }
              } else {
                closestDist = dist;
                closestSeries = i4;
              }
            }
          }
          if (shouldSetLegend || cursorOnePt) {
            let hPos, vPos;
            if (scaleX.ori == 0) {
              hPos = xPos2;
              vPos = yPos;
            } else {
              hPos = yPos;
              vPos = xPos2;
            }
            let ptWid, ptHgt, ptLft, ptTop, ptStroke, ptFill, centered = true, getBBox = points2.bbox;
            if (getBBox != null) {
              centered = false;
              let bbox = getBBox(self, i4);
              ptLft = bbox.left;
              ptTop = bbox.top;
              ptWid = bbox.width;
              ptHgt = bbox.height;
            } else {
              ptLft = hPos;
              ptTop = vPos;
              ptWid = ptHgt = points2.size(self, i4);
            }
            ptFill = points2.fill(self, i4);
            ptStroke = points2.stroke(self, i4);
            if (cursorOnePt) {
              if (i4 == closestSeries && closestDist <= focus.prox) {
                _ptLft = ptLft;
                _ptTop = ptTop;
                _ptWid = ptWid;
                _ptHgt = ptHgt;
                _centered = centered;
                _ptFill = ptFill;
                _ptStroke = ptStroke;
              }
            } else {
              let pt = cursorPts[i4];
              if (pt != null) {
                cursorPtsLft[i4] = ptLft;
                cursorPtsTop[i4] = ptTop;
                elSize(pt, ptWid, ptHgt, centered);
                elColor(pt, ptFill, ptStroke);
                elTrans(pt, ceil(ptLft), ceil(ptTop), plotWidCss, plotHgtCss);
              }
            }
          }
        }
      }
      if (cursorOnePt) {
        let p5 = focus.prox;
        let focusChanged = focusedSeries == null ? closestDist <= p5 : closestDist > p5 || closestSeries != focusedSeries;
        if (shouldSetLegend || focusChanged) {
          let pt = cursorPts[0];
          if (pt != null) {
            cursorPtsLft[0] = _ptLft;
            cursorPtsTop[0] = _ptTop;
            elSize(pt, _ptWid, _ptHgt, _centered);
            elColor(pt, _ptFill, _ptStroke);
            elTrans(pt, ceil(_ptLft), ceil(_ptTop), plotWidCss, plotHgtCss);
          }
        }
      }
    }
    if (select.show && dragging) {
      if (src != null) {
        let [xKey, yKey] = syncOpts.scales;
        let [matchXKeys, matchYKeys] = syncOpts.match;
        let [xKeySrc, yKeySrc] = src.cursor.sync.scales;
        let sdrag = src.cursor.drag;
        dragX = sdrag._x;
        dragY = sdrag._y;
        if (dragX || dragY) {
          let { left, top, width, height } = src.select;
          let sori = src.scales[xKeySrc].ori;
          let sPosToVal = src.posToVal;
          let sOff, sDim, sc, a5, b3;
          let matchingX = xKey != null && matchXKeys(xKey, xKeySrc);
          let matchingY = yKey != null && matchYKeys(yKey, yKeySrc);
          if (matchingX && dragX) {
            if (sori == 0) {
              sOff = left;
              sDim = width;
            } else {
              sOff = top;
              sDim = height;
            }
            sc = scales[xKey];
            a5 = valToPosX(sPosToVal(sOff, xKeySrc), sc, xDim, 0);
            b3 = valToPosX(sPosToVal(sOff + sDim, xKeySrc), sc, xDim, 0);
            setSelX(min(a5, b3), abs(b3 - a5));
          } else
            setSelX(0, xDim);
          if (matchingY && dragY) {
            if (sori == 1) {
              sOff = left;
              sDim = width;
            } else {
              sOff = top;
              sDim = height;
            }
            sc = scales[yKey];
            a5 = valToPosY(sPosToVal(sOff, yKeySrc), sc, yDim, 0);
            b3 = valToPosY(sPosToVal(sOff + sDim, yKeySrc), sc, yDim, 0);
            setSelY(min(a5, b3), abs(b3 - a5));
          } else
            setSelY(0, yDim);
        } else
          hideSelect();
      } else {
        let rawDX = abs(rawMouseLeft1 - rawMouseLeft0);
        let rawDY = abs(rawMouseTop1 - rawMouseTop0);
        if (scaleX.ori == 1) {
          let _rawDX = rawDX;
          rawDX = rawDY;
          rawDY = _rawDX;
        }
        dragX = drag.x && rawDX >= drag.dist;
        dragY = drag.y && rawDY >= drag.dist;
        let uni = drag.uni;
        if (uni != null) {
          if (dragX && dragY) {
            dragX = rawDX >= uni;
            dragY = rawDY >= uni;
            if (!dragX && !dragY) {
              if (rawDY > rawDX)
                dragY = true;
              else
                dragX = true;
            }
          }
        } else if (drag.x && drag.y && (dragX || dragY))
          dragX = dragY = true;
        let p0, p1;
        if (dragX) {
          if (scaleX.ori == 0) {
            p0 = mouseLeft0;
            p1 = mouseLeft1;
          } else {
            p0 = mouseTop0;
            p1 = mouseTop1;
          }
          setSelX(min(p0, p1), abs(p1 - p0));
          if (!dragY)
            setSelY(0, yDim);
        }
        if (dragY) {
          if (scaleX.ori == 1) {
            p0 = mouseLeft0;
            p1 = mouseLeft1;
          } else {
            p0 = mouseTop0;
            p1 = mouseTop1;
          }
          setSelY(min(p0, p1), abs(p1 - p0));
          if (!dragX)
            setSelX(0, xDim);
        }
        if (!dragX && !dragY) {
          setSelX(0, 0);
          setSelY(0, 0);
        }
      }
    }
    drag._x = dragX;
    drag._y = dragY;
    if (src == null) {
      if (_pub) {
        if (syncKey != null) {
          let [xSyncKey, ySyncKey] = syncOpts.scales;
          syncOpts.values[0] = xSyncKey != null ? posToVal(scaleX.ori == 0 ? mouseLeft1 : mouseTop1, xSyncKey) : null;
          syncOpts.values[1] = ySyncKey != null ? posToVal(scaleX.ori == 1 ? mouseLeft1 : mouseTop1, ySyncKey) : null;
        }
        pubSync(mousemove, self, mouseLeft1, mouseTop1, plotWidCss, plotHgtCss, idx);
      }
      if (cursorFocus) {
        let shouldPub = _pub && syncOpts.setSeries;
        let p5 = focus.prox;
        if (focusedSeries == null) {
          if (closestDist <= p5)
            setSeries(closestSeries, FOCUS_TRUE, true, shouldPub);
        } else {
          if (closestDist > p5)
            setSeries(null, FOCUS_TRUE, true, shouldPub);
          else if (closestSeries != focusedSeries)
            setSeries(closestSeries, FOCUS_TRUE, true, shouldPub);
        }
      }
    }
    if (shouldSetLegend) {
      legend.idx = idx;
      setLegend();
    }
    _fire !== false && fire("setCursor");
  }
  let rect2 = null;
  Object.defineProperty(self, "rect", {
    get() {
      if (rect2 == null)
        syncRect(false);
      return rect2;
    }
  });
  function syncRect(defer = false) {
    if (defer)
      rect2 = null;
    else {
      rect2 = over.getBoundingClientRect();
      fire("syncRect", rect2);
    }
  }
  function mouseMove(e4, src, _l, _t, _w, _h, _i) {
    if (cursor._lock)
      return;
    if (dragging && e4 != null && e4.movementX == 0 && e4.movementY == 0)
      return;
    cacheMouse(e4, src, _l, _t, _w, _h, _i, false, e4 != null);
    if (e4 != null)
      updateCursor(null, true, true);
    else
      updateCursor(src, true, false);
  }
  function cacheMouse(e4, src, _l, _t, _w, _h, _i, initial, snap) {
    if (rect2 == null)
      syncRect(false);
    setCursorEvent(e4);
    if (e4 != null) {
      _l = e4.clientX - rect2.left;
      _t = e4.clientY - rect2.top;
    } else {
      if (_l < 0 || _t < 0) {
        mouseLeft1 = -10;
        mouseTop1 = -10;
        return;
      }
      let [xKey, yKey] = syncOpts.scales;
      let syncOptsSrc = src.cursor.sync;
      let [xValSrc, yValSrc] = syncOptsSrc.values;
      let [xKeySrc, yKeySrc] = syncOptsSrc.scales;
      let [matchXKeys, matchYKeys] = syncOpts.match;
      let rotSrc = src.axes[0].side % 2 == 1;
      let xDim = scaleX.ori == 0 ? plotWidCss : plotHgtCss, yDim = scaleX.ori == 1 ? plotWidCss : plotHgtCss, _xDim = rotSrc ? _h : _w, _yDim = rotSrc ? _w : _h, _xPos = rotSrc ? _t : _l, _yPos = rotSrc ? _l : _t;
      if (xKeySrc != null)
        _l = matchXKeys(xKey, xKeySrc) ? getPos(xValSrc, scales[xKey], xDim, 0) : -10;
      else
        _l = xDim * (_xPos / _xDim);
      if (yKeySrc != null)
        _t = matchYKeys(yKey, yKeySrc) ? getPos(yValSrc, scales[yKey], yDim, 0) : -10;
      else
        _t = yDim * (_yPos / _yDim);
      if (scaleX.ori == 1) {
        let __l = _l;
        _l = _t;
        _t = __l;
      }
    }
    if (snap && (src == null || src.cursor.event.type == mousemove)) {
      if (_l <= 1 || _l >= plotWidCss - 1)
        _l = incrRound(_l, plotWidCss);
      if (_t <= 1 || _t >= plotHgtCss - 1)
        _t = incrRound(_t, plotHgtCss);
    }
    if (initial) {
      rawMouseLeft0 = _l;
      rawMouseTop0 = _t;
      [mouseLeft0, mouseTop0] = cursor.move(self, _l, _t);
    } else {
      mouseLeft1 = _l;
      mouseTop1 = _t;
    }
  }
  const _hideProps = {
    width: 0,
    height: 0,
    left: 0,
    top: 0
  };
  function hideSelect() {
    setSelect(_hideProps, false);
  }
  let downSelectLeft;
  let downSelectTop;
  let downSelectWidth;
  let downSelectHeight;
  function mouseDown(e4, src, _l, _t, _w, _h, _i) {
    dragging = true;
    dragX = dragY = drag._x = drag._y = false;
    cacheMouse(e4, src, _l, _t, _w, _h, _i, true, false);
    if (e4 != null) {
      onMouse(mouseup, doc, mouseUp, false);
      pubSync(mousedown, self, mouseLeft0, mouseTop0, plotWidCss, plotHgtCss, null);
    }
    let { left, top, width, height } = select;
    downSelectLeft = left;
    downSelectTop = top;
    downSelectWidth = width;
    downSelectHeight = height;
  }
  function mouseUp(e4, src, _l, _t, _w, _h, _i) {
    dragging = drag._x = drag._y = false;
    cacheMouse(e4, src, _l, _t, _w, _h, _i, false, true);
    let { left, top, width, height } = select;
    let hasSelect = width > 0 || height > 0;
    let chgSelect = downSelectLeft != left || downSelectTop != top || downSelectWidth != width || downSelectHeight != height;
    hasSelect && chgSelect && setSelect(select);
    if (drag.setScale && hasSelect && chgSelect) {
      let xOff = left, xDim = width, yOff = top, yDim = height;
      if (scaleX.ori == 1) {
        xOff = top, xDim = height, yOff = left, yDim = width;
      }
      if (dragX) {
        _setScale(
          xScaleKey,
          posToVal(xOff, xScaleKey),
          posToVal(xOff + xDim, xScaleKey)
        );
      }
      if (dragY) {
        for (let k4 in scales) {
          let sc = scales[k4];
          if (k4 != xScaleKey && sc.from == null && sc.min != inf) {
            _setScale(
              k4,
              posToVal(yOff + yDim, k4),
              posToVal(yOff, k4)
            );
          }
        }
      }
      hideSelect();
    } else if (cursor.lock) {
      cursor._lock = !cursor._lock;
      updateCursor(src, true, e4 != null);
    }
    if (e4 != null) {
      offMouse(mouseup, doc);
      pubSync(mouseup, self, mouseLeft1, mouseTop1, plotWidCss, plotHgtCss, null);
    }
  }
  function mouseLeave(e4, src, _l, _t, _w, _h, _i) {
    if (cursor._lock)
      return;
    setCursorEvent(e4);
    let _dragging = dragging;
    if (dragging) {
      let snapH = true;
      let snapV = true;
      let snapProx = 10;
      let dragH, dragV;
      if (scaleX.ori == 0) {
        dragH = dragX;
        dragV = dragY;
      } else {
        dragH = dragY;
        dragV = dragX;
      }
      if (dragH && dragV) {
        snapH = mouseLeft1 <= snapProx || mouseLeft1 >= plotWidCss - snapProx;
        snapV = mouseTop1 <= snapProx || mouseTop1 >= plotHgtCss - snapProx;
      }
      if (dragH && snapH)
        mouseLeft1 = mouseLeft1 < mouseLeft0 ? 0 : plotWidCss;
      if (dragV && snapV)
        mouseTop1 = mouseTop1 < mouseTop0 ? 0 : plotHgtCss;
      updateCursor(null, true, true);
      dragging = false;
    }
    mouseLeft1 = -10;
    mouseTop1 = -10;
    activeIdxs.fill(null);
    updateCursor(null, true, true);
    if (_dragging)
      dragging = _dragging;
  }
  function dblClick(e4, src, _l, _t, _w, _h, _i) {
    if (cursor._lock)
      return;
    setCursorEvent(e4);
    autoScaleX();
    hideSelect();
    if (e4 != null)
      pubSync(dblclick, self, mouseLeft1, mouseTop1, plotWidCss, plotHgtCss, null);
  }
  function syncPxRatio() {
    axes.forEach(syncFontSize);
    _setSize(self.width, self.height, true);
  }
  on(dppxchange, win, syncPxRatio);
  const events = {};
  events.mousedown = mouseDown;
  events.mousemove = mouseMove;
  events.mouseup = mouseUp;
  events.dblclick = dblClick;
  events["setSeries"] = (e4, src, idx, opts2) => {
    let seriesIdxMatcher2 = syncOpts.match[2];
    idx = seriesIdxMatcher2(self, src, idx);
    idx != -1 && setSeries(idx, opts2, true, false);
  };
  if (showCursor) {
    onMouse(mousedown, over, mouseDown);
    onMouse(mousemove, over, mouseMove);
    onMouse(mouseenter, over, (e4) => {
      setCursorEvent(e4);
      syncRect(false);
    });
    onMouse(mouseleave, over, mouseLeave);
    onMouse(dblclick, over, dblClick);
    cursorPlots.add(self);
    self.syncRect = syncRect;
  }
  const hooks = self.hooks = opts.hooks || {};
  function fire(evName, a1, a22) {
    if (deferHooks)
      hooksQueue.push([evName, a1, a22]);
    else {
      if (evName in hooks) {
        hooks[evName].forEach((fn) => {
          fn.call(null, self, a1, a22);
        });
      }
    }
  }
  (opts.plugins || []).forEach((p5) => {
    for (let evName in p5.hooks)
      hooks[evName] = (hooks[evName] || []).concat(p5.hooks[evName]);
  });
  const seriesIdxMatcher = (self2, src, srcSeriesIdx) => srcSeriesIdx;
  const syncOpts = assign({
    key: null,
    setSeries: false,
    filters: {
      pub: retTrue,
      sub: retTrue
    },
    scales: [xScaleKey, series[1] ? series[1].scale : null],
    match: [retEq, retEq, seriesIdxMatcher],
    values: [null, null]
  }, cursor.sync);
  if (syncOpts.match.length == 2)
    syncOpts.match.push(seriesIdxMatcher);
  cursor.sync = syncOpts;
  const syncKey = syncOpts.key;
  const sync = _sync(syncKey);
  function pubSync(type, src, x3, y5, w5, h5, i4) {
    if (syncOpts.filters.pub(type, src, x3, y5, w5, h5, i4))
      sync.pub(type, src, x3, y5, w5, h5, i4);
  }
  sync.sub(self);
  function pub(type, src, x3, y5, w5, h5, i4) {
    if (syncOpts.filters.sub(type, src, x3, y5, w5, h5, i4))
      events[type](null, src, x3, y5, w5, h5, i4);
  }
  self.pub = pub;
  function destroy() {
    sync.unsub(self);
    cursorPlots.delete(self);
    mouseListeners.clear();
    off(dppxchange, win, syncPxRatio);
    root.remove();
    legendTable?.remove();
    fire("destroy");
  }
  self.destroy = destroy;
  function _init() {
    fire("init", opts, data);
    setData(data || opts.data, false);
    if (pendScales[xScaleKey])
      setScale(xScaleKey, pendScales[xScaleKey]);
    else
      autoScaleX();
    shouldSetSelect = select.show && (select.width > 0 || select.height > 0);
    shouldSetCursor = shouldSetLegend = true;
    _setSize(opts.width, opts.height);
  }
  series.forEach(initSeries);
  axes.forEach(initAxis);
  if (then) {
    if (then instanceof HTMLElement) {
      then.appendChild(root);
      _init();
    } else
      then(self, _init);
  } else
    _init();
  return self;
}
uPlot.assign = assign;
uPlot.fmtNum = fmtNum;
uPlot.rangeNum = rangeNum;
uPlot.rangeLog = rangeLog;
uPlot.rangeAsinh = rangeAsinh;
uPlot.orient = orient;
uPlot.pxRatio = pxRatio;
{
  uPlot.join = join;
}
{
  uPlot.fmtDate = fmtDate;
  uPlot.tzDate = tzDate;
}
uPlot.sync = _sync;
{
  uPlot.addGap = addGap;
  uPlot.clipGaps = clipGaps;
  let paths = uPlot.paths = {
    points
  };
  paths.linear = linear;
  paths.stepped = stepped;
  paths.bars = bars;
  paths.spline = monotoneCubic;
}

// src/parts/lanes.tsx
var HEIGHT2 = innerWidth >= 2400 ? 220 : 110;
var WHOLE = Array.from({ length: 54 }, (_5, at) => [1, 2, 5][at % 3] * 10 ** Math.floor(at / 3));
var MAX_ROWS = 30;
function Lanes({ times, lanes, from, to, isUpper }) {
  const caption = `Latest ${count(Math.min(MAX_ROWS, times.length))} of ${plural(times.length, "point")}`;
  const rows = times.map((_5, at) => at).slice(-MAX_ROWS).reverse();
  return a4("div", { class: "lanes", children: [
    lanes.map((lane) => a4("figure", { class: "lane", children: [
      a4("figcaption", { children: [
        a4("strong", { children: lane.name }),
        " ",
        a4("span", { children: lane.summary })
      ] }),
      a4(Plot, { times, lane, from, to })
    ] }, lane.name)),
    a4("details", { children: [
      a4("summary", { children: "As a table" }),
      a4(Table, { caption, rows, columns: [
        { name: "Time", cell: (at) => millis(BigInt(Math.round(times[at] * 1e3)) * 1000000n) },
        ...lanes.map(({ name, values, write: write2 }) => ({ name, isNumber: true, cell: (at) => values[at] === null || values[at] === void 0 ? UNKNOWN : write2(values[at]) }))
      ] })
    ] }),
    !isUpper && a4("p", { class: "muted small", children: [
      "Times in ",
      zone(),
      ". Drag over a lane to zoom in."
    ] })
  ] });
}
function Plot({ times, lane, from, to }) {
  const place2 = T2(null);
  const plot = T2(null);
  const kept2 = T2({ from, to, lane });
  kept2.current = { from, to, lane };
  A2(() => {
    const holder = place2.current;
    const made = new uPlot(options(holder, kept2, lane.colour), [times, lane.values], holder);
    made.root.setAttribute("role", "img");
    plot.current = made;
    const watch = new ResizeObserver(() => made.setSize({ width: holder.clientWidth, height: HEIGHT2 }));
    watch.observe(holder);
    return () => {
      watch.disconnect();
      made.destroy();
    };
  }, [lane.name, isDark.value, isUtc.value]);
  A2(() => plot.current?.setData([times, lane.values]), [times, lane.values, from, to]);
  A2(() => plot.current?.root.setAttribute("aria-label", `${lane.name}: ${lane.summary}`));
  return a4("div", { ref: place2, class: "plot" });
}
var timeMarks = (_plot, marks, _axis, _space, step3) => marks.map((at) => mark(at, step3));
function options(holder, kept2, colour) {
  const style = getComputedStyle(document.documentElement);
  const token2 = (name) => style.getPropertyValue(name).trim();
  const axis = { stroke: token2("--muted"), grid: { stroke: token2("--hairline"), width: 1 }, ticks: { stroke: token2("--hairline"), width: 1 }, font: "13px system-ui" };
  return {
    width: holder.clientWidth || 600,
    height: HEIGHT2,
    legend: { show: false },
    cursor: { drag: { x: true, y: false, setScale: false }, sync: { key: "time" }, points: { size: 6 } },
    tzDate: (seconds2) => isUtc.value ? uPlot.tzDate(new Date(seconds2 * 1e3), "Etc/UTC") : new Date(seconds2 * 1e3),
    scales: {
      x: { range: () => [kept2.current.from, kept2.current.to] },
      y: { range: (_plot, _low, high) => [0, Math.max(high || 0, 1) * 1.1] }
    },
    axes: [
      { ...axis, size: 26, space: 110, values: timeMarks },
      { ...axis, size: 84, space: 30, incrs: WHOLE, values: (_plot, marks) => marks.map((mark2) => kept2.current.lane.write(mark2)) }
    ],
    series: [
      {},
      {
        stroke: token2(colour),
        width: 1.5,
        fill: token2(colour) + "30",
        points: { show: false },
        ...kept2.current.lane.isStepped ? { paths: uPlot.paths.stepped({ align: 1 }) } : {}
      }
    ],
    hooks: {
      setSelect: [
        (made) => {
          const { left, width } = made.select;
          if (width < 4) return;
          const [from, to] = [made.posToVal(left, "x"), made.posToVal(left + width, "x")];
          const nanos = (seconds2) => BigInt(Math.round(seconds2 * 1e6)) * 1000n;
          made.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
          set(around((nanos(from) + nanos(to)) / 2n, nanos(to - from)));
        }
      ]
    }
  };
}

// src/views/now.tsx
var TELLING = ["silent-loss", "loop", "drop", "queue-congestion", "path-change", "report-loss", "egress-utilization"];
var ASKED = ["drop", "queue-congestion", "path-change", "microburst", "culprits", "sequence-reset"];
var LASTING = [
  "negative-link-latency",
  "clock-drift",
  "duplicate-node-id",
  "unknown-node",
  "report-about-report",
  "ecmp-imbalance",
  "report-loss"
];
var RANK = { critical: 3, warning: 2, info: 1 };
function incidents(events) {
  const groups3 = [];
  const sorted = [...events].sort((a5, b3) => BigInt(b3.last) > BigInt(a5.last) ? 1 : -1);
  for (const event of sorted) {
    const key3 = incidentOf(event);
    const near = groups3.find((group) => group.key === key3 && BigInt(group.events.at(-1).first) - BigInt(event.last) < 5n * SECOND);
    if (near) near.events.push(event);
    else groups3.push({ key: key3, events: [event], main: event, severity: event.severity });
  }
  const rank = (event) => RANK[event.severity] ?? 0;
  const weight = (event) => (TELLING.includes(event.event) ? 10 - TELLING.indexOf(event.event) : 0) + rank(event) / 10;
  for (const group of groups3) {
    group.main = group.events.reduce((a5, b3) => weight(b3) > weight(a5) ? b3 : a5);
    group.severity = group.events.reduce((a5, b3) => rank(b3) > rank(a5) ? b3 : a5).severity;
  }
  return groups3;
}
function headline(groups3, { isLive, from, end }, counts) {
  if (from >= end) return "This time range is in the future.";
  const steps = counts && balance(counts);
  const lost = steps?.length ? sum(steps.map((step3) => step3.lost)) : void 0;
  const total = lost ? `${plural(lost, "report")} lost` : "no reports lost";
  const silent = steps && silence(counts, steps);
  const losses = !counts || silent && !lost ? [] : [lost === void 0 ? "lost reports unknown" : total];
  const ofRange = isLive ? "" : " of this time range";
  const silences = silent ? [`No reports accepted in the last ${duration(silent)}${ofRange}`] : [];
  if (!groups3.length) {
    if (isLive && totals.value?.received === 0 && !counts?.begun) return "No reports received yet.";
    if (counts && !isKept(counts)) return "No history of this time range.";
    const begun2 = counts?.begun;
    const quiet = begun2 ? `Quiet for ${duration(end - (begun2 > from ? begun2 : from))}` : "No incidents in this time range";
    return [silences[0] ?? quiet, ...losses].join("; ") + ".";
  }
  const ranked = [...groups3].sort((a5, b3) => RANK[b3.severity] - RANK[a5.severity]);
  const active = ranked.filter((group) => group.events.some((event) => event.phase === "begin"));
  const isFault = (group) => group.severity !== "info" && !LASTING.includes(group.main.event);
  const told = active.find(isFault) ?? ranked.find(isFault) ?? active[0] ?? ranked[0];
  const subject = told.main;
  const last = BigInt(subject.last);
  const moved = groups3.filter((group) => group.events.some(({ event }) => event === "path-change")).length;
  const parts = [
    ...silences,
    `${sentence(subject)}, ${subject.phase === "begin" ? "still active" : (subject.phase === "end" ? "ended " : "") + (isLive ? ago(last, now()) : "at " + clock(last))}`,
    ...moved && subject.event !== "path-change" ? [plural(moved, "path") + " changed"] : [],
    ...losses
  ];
  return parts.join("; ") + ".";
}
async function recent(when, signal) {
  const { isLive, from, to } = range();
  const end = to < now() ? to : now();
  const which = ["severity=warning&limit=200", ...ASKED.map((kind) => `kind=${kind}&limit=100`)];
  const all = new AbortController();
  signal.addEventListener("abort", () => all.abort(), { signal: all.signal });
  const asked = which.map((text) => ask(`events?${text}&from=${from}&to=${to}`, { signal: all.signal }));
  const found2 = await Promise.all(asked).finally(() => all.abort());
  const events = [...new Map(found2.flat().map((event) => [event.id, event])).values()];
  return { when, isLive, from, end, events };
}
function Now() {
  const [when, every] = timeAsked();
  const asked = useAsk("events " + when, (signal) => recent(when, signal), every, every && eventsHeard.value);
  const found2 = asked.data;
  const groups3 = incidents(found2?.events ?? []);
  const counts = useCounts();
  const heard = totals.value;
  const levels = counts.data?.when === found2?.when ? counts.data : void 0;
  const text = found2 ? headline(groups3, found2, levels) : "";
  useCopy(() => [text, ...groups3.map(({ main }) => `${exact(BigInt(main.first))}  ${sentence(main)}`)].join("\n"));
  return a4($, { children: [
    !found2 && a4("h1", { class: "headline", children: isBeginning.value ? "No reports received yet." : "Now" }),
    a4(Answer, { asked, children: (found3) => a4($, { children: [
      a4("h1", { class: "headline", children: text }),
      groups3.length ? a4(Incidents, { groups: groups3 }) : a4(Quiet, { found: found3, counts: levels })
    ] }) }),
    a4(Answer, { asked: counts, children: (counts2) => a4(Lines, { ...counts2, heard }) })
  ] });
}
function Quiet({ found: { from, end }, counts }) {
  const begins = counts?.begun ? `History begins at ${exact(counts.begun)}.` : "No history is stored yet.";
  const isUnknown = counts && !isKept(counts);
  const quiet = isUnknown ? begins : counts && silence(counts, balance(counts)) ? SILENT : "No event in this time range points to a fault.";
  return a4($, { children: [
    a4(Empty, { children: [
      from >= end ? "It has not begun." : quiet,
      " ",
      a4(LastDay, { of: "/" }),
      !totals.value?.received && a4($, { children: [
        ", or send reports to this collector: ",
        a4("code", { children: "inband demo --report-to ADDRESS:32766" })
      ] }),
      "."
    ] }),
    from < end && !isUnknown && a4(NotListed, {})
  ] });
}
var SILENT = "Check the nodes and the way to the collector.";
var NotListed = () => a4("p", { class: "muted", children: [
  "Not listed: new flows and small changes of latency.",
  " ",
  a4("a", { href: href("/events"), children: "All events in this time range" })
] });
function Incidents({ groups: groups3 }) {
  const shown2 = some(groups3);
  const rest = groups3.filter((group) => !shown2.includes(group));
  return a4("section", { "aria-labelledby": "incidents", children: [
    a4("h2", { id: "incidents", children: plural(groups3.length, "incident") }),
    a4("ul", { class: "incidents", children: shown2.map(({ main, events, severity }) => {
      const to = href("/event/" + main.id, around(BigInt(main.first), 20n * SECOND));
      return a4("li", { "data-row": true, tabIndex: 0, onKeyDown: (press) => press.key === "Enter" && press.target === press.currentTarget && go(to), children: [
        a4(Severity, { of: severity }),
        a4("a", { href: to, children: sentence(main) }),
        a4("span", { class: "muted", children: [
          main.phase === "begin" && "active, ",
          a4(Time, { at: main.last })
        ] }),
        events.length > 1 && a4("span", { class: "muted", children: [
          "with ",
          kindsOf(events.filter((event) => event !== main))
        ] })
      ] }, main.id);
    }) }),
    a4(NotListed, {}),
    groups3.length > MOST3 && a4("p", { children: [
      a4("a", { href: href("/events"), children: "All events in this time range" }),
      ": ",
      plural(groups3.length - MOST3, "more incident"),
      ", of ",
      [...new Set(rest.map(({ main }) => main.event))].join(", ")
    ] })
  ] });
}
var MOST3 = 10;
function some(groups3) {
  const seen = {};
  const ranked = groups3.map((group, at) => ({ group, at, round: seen[group.main.event] = (seen[group.main.event] ?? 0) + 1 }));
  const kept2 = ranked.sort((a5, b3) => a5.round - b3.round || a5.at - b3.at).slice(0, MOST3);
  return kept2.sort((a5, b3) => a5.at - b3.at).map(({ group }) => group);
}
function kindsOf(events) {
  const kinds = events.map(({ event }) => event);
  const write2 = (kind) => {
    const many = kinds.filter((other) => other === kind).length;
    return many > 1 ? `${count(many)} ${kind}` : kind;
  };
  return [...new Set(kinds)].map(write2).join(", ");
}
function Lines(counts) {
  const { isLive, from, levels } = counts;
  const to = endOf(counts);
  const steps = balance(counts);
  const [times, rates, losses] = [steps.map((step3) => step3.at), steps.map((step3) => step3.rate), steps.map((step3) => step3.lost)];
  const [latency, depth, drops] = w2(
    () => ["latency", "depth", "drops"].map((name) => levels.map((row) => row[name] === null ? null : Number(row[name]))),
    [levels]
  );
  const moments = w2(() => levels.map((row) => seconds(row.t)), [levels]);
  const highest = (values) => values.reduce((a5, b3) => b3 !== null && (a5 === null || b3 > a5) ? b3 : a5, null);
  const lost = sum(losses);
  const level = (name, values, write2, colour) => {
    const most = highest(values);
    return { name, values, write: write2, colour, isStepped: true, summary: most === null ? `${UNKNOWN} nothing reported` : `at most ${write2(most)}` };
  };
  const reports = { name: "Reports", values: rates, write: rate, colour: "--flow1", summary: rates.length ? `${isLive ? "now" : "at the end"} ${rate(rates.at(-1))}, ${count(lost)} lost` : UNKNOWN };
  const upper = lost ? [reports, { name: "Lost reports", values: losses, write: count, colour: "--flow2", summary: count(lost) }] : [reports];
  const lower = [
    level("Longest hop", latency, duration, "--flow4"),
    { ...level("Deepest queue", depth, depthOfAny, "--flow3"), isBinary: true },
    ...highest(drops) ? [level("Reported drops", drops, count, "--flow2")] : []
  ];
  const window2 = { from: seconds(from), to: seconds(to) };
  return a4("section", { "aria-label": "Over time", children: [
    a4(Lanes, { times, lanes: upper, ...window2, isUpper: levels.length > 0 }),
    levels.length > 0 && a4(Lanes, { times: moments, lanes: lower, ...window2 })
  ] });
}

// src/files.ts
function csv(columns3, rows) {
  return [columns3, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}
function cell(value) {
  if (value === null || value === void 0) return "";
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  const text = String(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? "'" + text : text;
  return /[",\r\n]/.test(safe) || safe !== text ? `"${safe.replaceAll('"', '""')}"` : safe;
}
function jsonl(columns3, rows) {
  const write2 = (value) => typeof value === "bigint" ? String(value) : JSON.stringify(value);
  return rows.map((row) => `{${columns3.map((name, at) => `${JSON.stringify(name)}:${write2(row[at])}`).join(",")}}
`).join("");
}

// src/views/query.tsx
var EXAMPLES = [
  ["p99 by node and interface, worst first", "SELECT node_id, egress_interface, max(latency_p99) AS p99, max(latency_max) AS longest\nFROM minutes\nWHERE time > (unixepoch() - 900) * 1000000000\nGROUP BY 1, 2 ORDER BY p99 DESC"],
  ["latest path changes", "SELECT time, flow_id, source, destination, source_port, path\nFROM paths ORDER BY time DESC LIMIT 50"],
  ["events by kind", "SELECT kind, severity, count(*) AS events, max(time) AS latest\nFROM events GROUP BY 1, 2 ORDER BY events DESC"],
  ["flows in the queues of one node in the last ten seconds", "SELECT egress_interface, flow_id, source, destination, count(*) AS reports, max(queue_occupancy) AS deepest, max(hop_latency) AS longest\nFROM observations\nWHERE time > (unixepoch() - 10) * 1000000000 AND node_id = 1\nGROUP BY 1, 2 ORDER BY deepest DESC LIMIT 50"]
];
function Query() {
  const text = param("sql");
  const [typed, setTyped] = d2(text || EXAMPLES[0][1]);
  const [seen, setSeen] = d2(text);
  if (seen !== text) {
    setSeen(text);
    if (text) setTyped(text);
  }
  const [runs, setRuns] = d2(0);
  if (!text) isReady.value = true;
  const run = () => {
    set({ sql: typed.trim() || void 0 });
    setRuns((old) => old + 1);
  };
  return a4($, { children: [
    a4("h1", { children: "Query" }),
    a4("label", { for: "sql", class: "muted", children: "SQL over the history. Ctrl-Enter runs it." }),
    a4(
      "textarea",
      {
        id: "sql",
        "data-filter": true,
        rows: Math.min(16, Math.max(5, typed.split("\n").length + 1)),
        spellcheck: false,
        value: typed,
        onInput: (event) => setTyped(event.currentTarget.value),
        onKeyDown: (event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            run();
          }
        }
      }
    ),
    a4("p", { class: "choices", children: [
      a4("button", { onClick: run, children: "Run" }),
      a4("label", { children: [
        "Examples",
        " ",
        a4("select", { value: "", onChange: (event) => setTyped(EXAMPLES[Number(event.currentTarget.value)][1]), children: [
          a4("option", { value: "", disabled: true, children: "choose one" }),
          EXAMPLES.map(([name], at) => a4("option", { value: at, children: name }, name))
        ] })
      ] }),
      a4("span", { class: "muted", children: [
        "Tables: ",
        tables.value.map(({ name, about, columns: columns3 }, at) => a4("span", { children: [
          at > 0 && ", ",
          a4("a", { title: `${about}: ${columns3.join(", ")}`, href: href("/query", { sql: `SELECT * FROM ${name} ORDER BY time DESC LIMIT 20` }), children: name })
        ] }, name))
      ] })
    ] }),
    text && a4(Result, { text, run: runs }),
    !text && a4(Empty, { children: "No query yet: run the example, or write your own." })
  ] });
}
function Result({ text, run }) {
  const stop = T2(null);
  const asked = useAsk(`sql ${run} ${text}`, async (signal) => {
    const started = performance.now();
    const own = new AbortController();
    stop.current = own;
    const body = JSON.stringify({ sql: text });
    const found2 = await ask("query", { method: "POST", body, headers: { "content-type": "application/json" }, signal: AbortSignal.any([signal, own.signal]) });
    return { ...found2, took: performance.now() - started };
  });
  return a4($, { children: [
    asked.isSlow && a4("p", { children: a4("button", { onClick: () => stop.current?.abort(), children: "Cancel" }) }),
    asked.error?.status === 422 && a4("p", { class: "notice", children: [
      "The query hit a limit. Restrict the time (",
      a4("code", { children: "WHERE time > (unixepoch() - 600) * 1000000000" }),
      "), select fewer columns, or query ",
      a4("code", { children: "minutes" }),
      "."
    ] }),
    a4(Answer, { asked, children: (found2) => a4(Found, { found: found2 }) })
  ] });
}
var isTime2 = (name) => /(^|_)(time|timestamp|latest|first|last)$/.test(name);
var MOST4 = 500;
function Found({ found: { columns: columns3, rows, damage, took } }) {
  useCopy(() => csv(columns3, rows));
  const [refused, setRefused] = d2("");
  const parquet = () => {
    setRefused("");
    saveParquet(param("sql")).catch((error) => setRefused(String(error.message ?? error)));
  };
  const cell2 = (name, value) => {
    if (value === null) return UNKNOWN;
    if (name === "flow_id") return a4("a", { class: "mono", href: href("/flow/" + value), children: String(value) });
    if (isTime2(name) && typeof value === "bigint") return a4("time", { title: String(value), children: exact(value) });
    return shown(String(value));
  };
  if (!rows.length) return a4(Empty, { children: "The query returned no rows." });
  return a4($, { children: [
    a4("p", { class: "choices", children: [
      a4("button", { onClick: () => save("inband.csv", "text/csv", csv(columns3, rows)), children: "Save as CSV" }),
      a4("button", { onClick: () => save("inband.jsonl", "application/jsonl", jsonl(columns3, rows)), children: "Save as JSON Lines" }),
      a4("button", { onClick: parquet, children: "Save as Parquet" }),
      a4("span", { class: "muted", children: [
        plural(rows.length, "row"),
        " in ",
        Math.round(took),
        " ms"
      ] })
    ] }),
    refused && a4("p", { class: "notice", role: "alert", children: [
      "No Parquet file: ",
      shown(refused, 600)
    ] }),
    damage.length > 0 && a4("p", { class: "notice", children: [
      plural(damage.length, "part"),
      " of the history could not be read: ",
      shown(damage[0].file),
      damage.length > 1 && ", …"
    ] }),
    a4(
      Table,
      {
        caption: `${count(Math.min(MOST4, rows.length))} of ${plural(rows.length, "row")}`,
        rows: rows.slice(0, MOST4),
        onFocus: () => void 0,
        columns: columns3.map((name, at) => ({ name, isNumber: typeof rows[0][at] === "number", isLong: /^(?=.* ).{17}/.test(String(rows[0][at])), cell: (row) => cell2(name, row[at]) }))
      }
    )
  ] });
}
async function saveParquet(text) {
  const body = JSON.stringify({ sql: text, format: "parquet" });
  save("inband.parquet", "application/vnd.apache.parquet", await file("query", { method: "POST", body, headers: { "content-type": "application/json" } }));
}
function save(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

// src/samples.ts
var MOST5 = 4e4;
var LATE = 500000000n;
async function samples(node2, port2, queue, from, to, signal) {
  const is = (column, value) => /^\d{1,5}$/.test(value) ? `${column} = ${value}` : `${column} IS NULL`;
  const one = queue ? `AND ${is("queue_id", queue)}` : "";
  const text = `SELECT ${KEY}, egress_timestamp, queue_id, queue_occupancy, hop_latency, flow_id, source, destination, protocol, source_port, destination_port FROM observations WHERE time >= ${from} AND time < ${to + LATE} AND node_id = ${node2} AND ${is("egress_interface", port2)} ${one} AND (queue_occupancy IS NOT NULL OR hop_latency IS NOT NULL) ORDER BY time LIMIT ${MOST5}`;
  const [rows, events, culprits] = await Promise.all([
    sql(text, signal),
    ask(`events?limit=200&kind=queue-congestion&node=${node2}&from=${from}&to=${to}`, { signal }),
    ask(`events?limit=50&kind=culprits&node=${node2}&from=${from}&to=${to}`, { signal })
  ]);
  const isNodeClock = rows.length > 0 && rows.every((row) => isTime(row.egress_timestamp));
  const ahead2 = isNodeClock ? rows.map(delay).reduce((a5, b3) => b3 < a5 ? b3 : a5) : 0n;
  const clock2 = (row) => isNodeClock ? BigInt(row.egress_timestamp) + ahead2 : BigInt(row.time);
  const span = Number(to - from);
  const placed = rows.map((row) => ({ at: Number(clock2(row) - from), row }));
  const inside = placed.filter(({ at }) => at >= 0 && at < span).sort((a5, b3) => a5.at - b3.at);
  const ids = new Map();
  for (const { row } of inside) {
    const id = row.flow_id === null ? "" : String(row.flow_id);
    const list = ids.get(id) ?? [];
    list.push(row);
    ids.set(id, list);
  }
  const flows = [...ids].sort((a5, b3) => b3[1].length - a5[1].length).map(([id, list]) => summary(id, list, inside.length));
  const number = new Map(flows.map(({ id }, at) => [id, at]));
  const found2 = inside.map(({ at, row }) => ({
    at,
    depth: row.queue_occupancy,
    latency: row.hop_latency,
    flow: number.get(row.flow_id === null ? "" : String(row.flow_id)),
    row
  }));
  const mine = ({ detail: { egress_interface, queue_id } }) => String(egress_interface ?? "-") === port2 && (!queue || String(queue_id ?? "-") === queue);
  const byArrival = found2.map(({ at, row }) => [BigInt(row.time), at]).sort(([a5], [b3]) => a5 < b3 ? -1 : a5 > b3 ? 1 : 0);
  const placeOf = (time, isEnd) => {
    const near = isEnd ? byArrival.findLast(([arrived]) => arrived <= time) : byArrival.find(([arrived]) => arrived >= time);
    return near && byArrival[0][0] <= time ? near[1] : Number(time - from);
  };
  const episodes = events.filter(mine).map((event) => ({
    from: placeOf(BigInt(event.first), false),
    to: placeOf(BigInt(event.last), true),
    isTruncated: Boolean(event.detail.truncated),
    id: event.id
  }));
  return { from, to, isNodeClock, isCut: rows.length >= MOST5, samples: found2, flows, episodes, culprits: culprits.filter(mine) };
}
var delay = (row) => BigInt(row.time) - BigInt(row.egress_timestamp);
function summary(id, rows, all) {
  const { source, destination, protocol: protocol2, source_port, destination_port } = rows[0];
  const waits = rows.map((row) => row.hop_latency).filter((wait) => wait !== null).sort((a5, b3) => a5 - b3);
  return {
    id,
    flow: source === null ? null : { source, destination, protocol: protocol2, source_port, destination_port },
    reports: rows.length,
    share: 1e3 * rows.length / all,
    longest: waits.at(-1) ?? null,
    median: waits[Math.floor(waits.length / 2)] ?? null
  };
}
function stack(found2, many, kept2) {
  const span = Number(found2.to - found2.from);
  const steps = Array.from({ length: many }, () => ({ deepest: -1, parts: [] }));
  found2.samples.forEach((sample, at) => {
    const step3 = steps[Math.min(many - 1, Math.floor(sample.at / span * many))];
    if (sample.depth === null) return;
    if (step3.deepest < 0 || sample.depth > found2.samples[step3.deepest].depth) step3.deepest = at;
  });
  return steps.map(({ deepest }) => {
    const parts = Array(kept2 + 1).fill(0);
    if (deepest < 0) return { depth: -1, parts };
    const sample = found2.samples[deepest];
    let counted2 = 0;
    for (let at = deepest; at >= 0 && found2.samples[at].at >= sample.at - (sample.latency ?? 0); at--) {
      if (found2.samples[at].row.queue_id !== sample.row.queue_id) continue;
      parts[Math.min(kept2, found2.samples[at].flow)] += 1;
      counted2 += 1;
    }
    const depth = sample.depth;
    return { depth, parts: parts.map((part) => part / counted2 * depth) };
  });
}

// src/parts/depth.tsx
var [WIDTH3, HEIGHT3, LEFT2, BOTTOM2, STEPS] = [1200, 260, 0, 4, 400];
function Lane({ found: found2, write: write2, levels }) {
  void isUtc.value;
  const [cursor, setCursor] = d2();
  const steps = stack(found2, STEPS, FLOWS_SHOWN);
  const deepest = Math.max(0, ...steps.map(({ depth }) => depth));
  const most = Math.max(1, deepest);
  const [width, height] = [WIDTH3 - LEFT2, HEIGHT3 - BOTTOM2];
  const x3 = (step3) => LEFT2 + step3 / STEPS * width;
  const y5 = (depth) => height - depth / most * (height - 8);
  const span = Number(found2.to - found2.from);
  const place2 = (nanos) => LEFT2 + Math.max(0, Math.min(span, nanos)) / span * width;
  const time = (step3) => found2.from + BigInt(Math.round(step3 / STEPS * span));
  const told = cursor === void 0 ? "" : `${exact(time(cursor))}: ${steps[cursor].depth < 0 ? "nothing reported" : write2(steps[cursor].depth)}`;
  const open = (step3) => {
    const at = step3 / STEPS * span;
    const near = found2.samples.reduce((best, sample) => Math.abs(sample.at - at) < Math.abs(best.at - at) ? sample : best);
    openPacket(near.row);
  };
  const onKey2 = (event) => {
    const at = cursor ?? STEPS / 2;
    const zoomed = { w: 2, W: 2, s: 0.5, S: 0.5 }[event.key];
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") setCursor(Math.max(0, Math.min(STEPS - 1, at + (event.key === "ArrowLeft" ? -1 : 1))));
    else if (event.key === "Enter") open(at);
    else if (zoomed) set(around(time(at), BigInt(Math.max(1e3, Math.round(span / zoomed)))));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const find2 = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    return Math.max(0, Math.min(STEPS - 1, Math.round(((event.clientX - box.left) / box.width * WIDTH3 - LEFT2) / width * STEPS)));
  };
  return a4("figure", { class: "depth", children: [
    a4(
      "svg",
      {
        viewBox: `0 0 ${WIDTH3} ${HEIGHT3}`,
        preserveAspectRatio: "none",
        role: "img",
        tabindex: 0,
        "aria-label": `Depth over ${duration(span)}, at most ${write2(deepest)}. Arrow keys move, W and S zoom, Enter opens the packet.`,
        onMouseMove: (event) => setCursor(find2(event)),
        onMouseLeave: () => setCursor(void 0),
        onClick: (event) => open(find2(event)),
        onKeyDown: onKey2,
        children: [
          a4("defs", { children: a4("pattern", { id: "cross", width: "8", height: "8", patternUnits: "userSpaceOnUse", children: a4("path", { d: "M0 0L8 8M8 0L0 8", class: "hatch" }) }) }),
          [0, 0.5, 1].map((part) => a4("line", { x1: LEFT2, x2: WIDTH3, y1: y5(most * part), y2: y5(most * part), class: "grid" }, part)),
          Array.from({ length: FLOWS_SHOWN + 1 }, (_5, flow) => a4("path", { class: `area f${flow < FLOWS_SHOWN ? flow + 1 : 0}`, d: area(steps, flow, x3, y5) }, flow)),
          levels.filter((level) => level.depth <= most).map((level) => a4("line", { class: "level " + level.name, x1: LEFT2, x2: WIDTH3, y1: y5(level.depth), y2: y5(level.depth) }, level.name)),
          found2.episodes.map((episode) => a4("g", { children: [
            a4("path", { class: "episode", d: `M${place2(episode.from)} 8V2H${place2(episode.to)}V8` }),
            episode.isTruncated && a4("rect", { x: place2(episode.to), y: "0", width: LEFT2 + width - place2(episode.to), height, fill: "url(#cross)" })
          ] }, episode.id)),
          cursor !== void 0 && a4("line", { class: "cursor", x1: x3(cursor), x2: x3(cursor), y1: "0", y2: height })
        ]
      }
    ),
    a4("span", { class: "mark top", "aria-hidden": "true", children: write2(deepest) }),
    deepest >= 10 && a4("span", { class: "mark half", "aria-hidden": "true", children: write2(Math.round(deepest / 2)) }),
    a4("div", { class: "ends", "aria-hidden": "true", children: [
      a4("span", { children: exact(found2.from) }),
      a4("span", { children: [
        duration(span),
        ", at most ",
        write2(deepest)
      ] }),
      a4("span", { children: exact(found2.to) })
    ] }),
    levels.length > 0 && a4("p", { class: "levels", children: levels.map((level) => a4("span", { children: [
      a4("i", { class: "line " + level.name, "aria-hidden": "true" }),
      " ",
      level.told,
      level.depth > most ? ", above the shown range" : ""
    ] }, level.name)) }),
    a4("figcaption", { "aria-live": "polite", children: told || "Reported depth; each moment is split by the flows whose reported packets left while its deepest packet waited. Brackets: congestion. Gaps: nothing reported." })
  ] });
}
function area(steps, flow, x3, y5) {
  let path = "";
  steps.forEach(({ depth, parts }, at) => {
    if (depth < 0 || !parts[flow]) return;
    const below = parts.slice(0, flow).reduce((sum2, part) => sum2 + part, 0);
    path += `M${x3(at).toFixed(1)} ${y5(below).toFixed(1)}H${x3(at + 1).toFixed(1)}V${y5(below + parts[flow]).toFixed(1)}H${x3(at).toFixed(1)}Z`;
  });
  return path;
}

// src/parts/heat.tsx
function Heat({ name, rows, columns: columns3, step: step3, told, open, rowHeight, labels, ends: ends2 }) {
  const { at, drawn } = useGrid({ rows, columns: columns3, step: step3, nothing: "--panel", start: [0, columns3 - 1], open, painted: [step3] });
  return a4("figure", { class: "heat", children: [
    a4("div", { class: "heat-frame", children: [
      labels && a4("div", { class: "heat-labels", "aria-hidden": "true", children: labels.map((label, row) => a4("span", { style: { height: `${rowHeight}px`, lineHeight: `${rowHeight}px` }, children: label }, row)) }),
      a4("div", { class: "heat-map", children: [
        a4(
          "canvas",
          {
            ...drawn,
            style: { height: `${rows * rowHeight}px` },
            "aria-label": `${name} Arrow keys move from cell to cell${open ? ", Enter opens" : ""}.`
          }
        ),
        a4("div", { class: "ends", "aria-hidden": "true", children: [
          a4("span", { children: ends2[0] }),
          a4("span", { children: ends2[1] })
        ] })
      ] })
    ] }),
    a4("figcaption", { "aria-live": "polite", children: at ? told(...at) : name })
  ] });
}

// src/parts/depths.tsx
var COLUMNS = 120;
var STEPS2 = [2, 5, 10, 20, 50, 100];
function Depths({ found: found2, write: write2 }) {
  const level = (depth) => depth <= 0 ? 0 : Math.floor(Math.log2(depth)) + 1;
  const samples2 = found2.samples.filter((one) => one.depth !== null);
  const levels = samples2.map(({ depth }) => level(depth));
  const highest = levels.reduce((most2, one) => Math.max(most2, one), 0);
  const lowest = levels.reduce((least, one) => one > 0 ? Math.min(least, one) : least, highest);
  const rows = highest === 0 ? 1 : highest - lowest + 2;
  const rowOf = (one) => one === 0 ? rows - 1 : highest - one;
  const span = Number(found2.to - found2.from);
  const cells = new Uint32Array(rows * COLUMNS);
  samples2.forEach(({ at }, index) => {
    cells[rowOf(levels[index]) * COLUMNS + Math.min(COLUMNS - 1, Math.floor(at / span * COLUMNS))] += 1;
  });
  const bounds = (row) => row === rows - 1 ? "empty" : `${write2(2 ** (highest - row - 1))} to ${write2(2 ** (highest - row))}`;
  const time = (column) => found2.from + BigInt(Math.floor(column / COLUMNS * span));
  const most = cells.reduce((all, one) => Math.max(all, one), 0);
  const step3 = (row, column) => {
    const packets = cells[row * COLUMNS + column];
    const above = STEPS2.findIndex((bound) => packets < bound);
    return packets === 0 ? 0 : above < 0 ? 7 : above + 1;
  };
  return a4(
    Heat,
    {
      name: `Queue depth met by packets: at most ${plural(most, "packet")} in a cell. Colours: from 1 packet to 100 or more.`,
      rows,
      columns: COLUMNS,
      step: step3,
      rowHeight: rows > 12 ? 14 : 20,
      labels: Array.from({ length: rows }, (_5, row) => row === rows - 1 ? "empty" : write2(2 ** (highest - row - 1))),
      told: (row, column) => `${exact(time(column))}: ${plural(cells[row * COLUMNS + column], "packet")}, ${bounds(row)}`,
      open: (_5, column) => set(around(time(column) + BigInt(Math.floor(span / COLUMNS / 2)), BigInt(Math.max(1e3, Math.floor(4 * span / COLUMNS))))),
      ends: [millis(found2.from), millis(found2.to)]
    }
  );
}

// src/depths.ts
var MAX_QUEUES = 24;
var MAX_COLUMNS = 120n;
async function depthsOf(rows, from, to, signal) {
  const queues = rows.filter((row) => row.depth !== null).slice(0, MAX_QUEUES);
  const minutes = (to - from) / MINUTE + 1n;
  const step3 = MINUTE * ((minutes + MAX_COLUMNS - 1n) / MAX_COLUMNS);
  const begin = from - from % step3;
  const columns3 = Number((to - begin + step3 - 1n) / step3);
  const nodes2 = [...new Set(queues.map((row) => row.node_id))].join(", ");
  const is = (value) => value === null ? "IS NULL" : `= ${value}`;
  const each = queues.map(({ node_id, egress_interface, queue_id }) => {
    return `(node_id = ${node_id} AND egress_interface ${is(egress_interface)} AND queue_id ${is(queue_id)})`;
  });
  const found2 = queues.length ? await sql(
    `SELECT (time - ${begin}) / ${step3} AS at, node_id, egress_interface, queue_id, max(queue_occupancy_max) AS depth FROM minutes WHERE time >= ${begin} AND time < ${to} AND node_id IN (${nodes2}) AND (${each.join(" OR ")}) AND queue_occupancy_max IS NOT NULL GROUP BY 1, 2, 3, 4 LIMIT 10000`,
    signal
  ) : [];
  const key3 = (row) => `${row.node_id} ${row.egress_interface} ${row.queue_id}`;
  const numbers2 = new Map(queues.map((row, at) => [key3(row), at]));
  const cells = new Map();
  for (const row of found2) {
    const at = numbers2.get(key3(row));
    if (at !== void 0) cells.set(`${at} ${Number(row.at)}`, Number(row.depth));
  }
  return { queues, columns: columns3, step: step3, begin, cells };
}
var STEPS3 = [1e3, 1e4, 5e4, 1e5, 5e5, 1e6];
function depthStep(value) {
  if (value === void 0) return 0;
  const above = STEPS3.findIndex((bound) => value < bound);
  return above < 0 ? 7 : above + 1;
}

// src/views/queues.tsx
var queueAddress = (row, params = {}) => href(queuePath(row.node_id, row.egress_interface, row.queue_id), params);
var [FEW2, MANY2] = [100, 500];
function Queues() {
  const [when, every] = timeAsked();
  const asked = useAsk(`queues ${param("many")} ${when}`, async (signal) => {
    const { from, to } = range();
    const text = `SELECT node_id, egress_interface, queue_id, max(queue_occupancy_max) AS depth, max(latency_max) AS longest, max(latency_p99) AS p99, sum(count) AS reports FROM minutes WHERE time >= ${from - MINUTE} AND time < ${to} GROUP BY 1, 2, 3 ORDER BY depth DESC, longest DESC LIMIT ${param("many") ? MANY2 : FEW2}`;
    const [rows, congested] = await Promise.all([sql(text, signal), ask("events?active=true&kind=queue-congestion&limit=1000", { signal })]);
    return { rows, congested: new Set(congested.map(({ detail }) => key2(detail))), depths: await depthsOf(rows, from, to, signal) };
  }, every);
  return a4($, { children: [
    a4("h1", { children: "Queues" }),
    a4(Answer, { asked, children: (found2) => a4(List5, { ...found2 }) }),
    asked.data?.rows.length === FEW2 && !param("many") && a4("p", { children: a4("button", { onClick: () => set({ many: "1" }), children: [
      "Show ",
      MANY2
    ] }) })
  ] });
}
var key2 = (queue) => `${queue.node_id} ${queue.egress_interface} ${queue.queue_id}`;
function List5({ rows, congested, depths }) {
  useCopy(() => rows.map((row) => `${queueName(row)}  ${depthOf(row.node_id, row.depth)}  ${duration(row.longest)}`).join("\n"));
  if (!rows.length) return a4(Empty, { children: [
    "No queues reported in this time range. ",
    a4(LastDay, { of: "/queues" })
  ] });
  const most = Math.max(1, ...rows.map((row) => Number(row.depth ?? 0)));
  const caption = `${plural(rows.length, "queue")}, largest reported depth first, in whole minutes`;
  return a4($, { children: [
    depths.queues.length > 0 && a4(Over, { depths, write: (queue, value) => depthOf(queue.node_id, value) }),
    a4(Table, { caption, rows, keyOf: key2, open: queueAddress, columns: [
      { name: "Queue", cell: (row) => a4("a", { class: "path", href: queueAddress(row), children: queueName(row) }) },
      {
        name: "Deepest",
        isNumber: true,
        cell: (row) => a4("span", { class: "barred", children: [
          a4("meter", { "aria-hidden": "true", min: 0, max: most, value: Number(row.depth ?? 0) }),
          " ",
          depthOf(row.node_id, row.depth)
        ] })
      },
      { name: "Longest wait", isNumber: true, cell: (row) => duration(row.longest) },
      { name: "p99, worst minute", isNumber: true, cell: (row) => duration(row.p99 === null ? null : Math.min(Number(row.p99), Number(row.longest ?? row.p99))) },
      { name: range().isLive ? "Now" : "At present", cell: (row) => congested.has(key2(row)) ? a4("strong", { class: "bad", children: "congested" }) : "not congested" },
      { name: "Reported hops", isNumber: true, cell: (row) => count(row.reports) }
    ] })
  ] });
}
function Over({ depths, write: write2 }) {
  const { queues, columns: columns3, step: width, begin, cells } = depths;
  const at = (row, column) => cells.get(`${row} ${column}`);
  const stepAt = w2(() => (row, column) => depthStep(at(row, column)), [depths]);
  const time = (column) => begin + BigInt(column) * width;
  return a4(
    Heat,
    {
      name: `${plural(queues.length, "queue")} with the largest reported depths. A cell is ${duration(width)}.`,
      rows: queues.length,
      columns: columns3,
      step: stepAt,
      rowHeight: queues.length > 16 ? 14 : 20,
      labels: queues.map((queue) => queueName(queue).replace(" interface ", " ")),
      told: (row, column) => {
        const value = at(row, column);
        return `${queueName(queues[row])}, ${clock(time(column))} to ${clock(time(column + 1))}: ${value === void 0 ? "nothing reported" : `at most ${write2(queues[row], value)}`}`;
      },
      open: (row, column) => go(queueAddress(queues[row], around(time(column) + width / 2n, width > MINUTE ? MINUTE : width))),
      ends: [clock(begin), clock(time(columns3))]
    }
  );
}
function queueName({ node_id, egress_interface, queue_id }) {
  const queue = queue_id === void 0 ? ", all queues" : ` queue ${queue_id ?? UNKNOWN}`;
  return `${node(node_id)} interface ${egress_interface ?? UNKNOWN}${queue}`;
}

// src/views/queue.tsx
var FLOWS_SHOWN = 6;
function Queue({ node: node2, port: port2, queue }) {
  const id = /^\d{1,10}$/.test(node2) ? Number(node2) : void 0;
  const { isLive } = range();
  const [when, every] = timeAsked(3e3);
  const window2 = () => {
    const { isLive: isLive2, from, to } = range();
    return isLive2 || to - from > 60n * SECOND ? { from: to - (isLive2 ? 10n : 60n) * SECOND, to } : { from, to };
  };
  const find2 = (signal) => samples(id ?? 0, port2, queue, window2().from, window2().to, signal);
  const asked = useAsk(`queue ${node2} ${port2} ${queue} ${when}`, find2, every);
  if (id === void 0) return a4(Empty, { children: [
    "A queue has a node, an interface and a queue ID. ",
    a4("a", { href: href("/queues"), children: "All queues" })
  ] });
  const number = (text) => /^\d+$/.test(text) ? Number(text) : null;
  const called = { node_id: id, egress_interface: number(port2), queue_id: queue ? number(queue) : void 0 };
  return a4($, { children: [
    a4("h1", { children: queueName(called) }),
    a4(Answer, { asked, children: (found2) => a4(Shown3, { node: id, found: found2, isLive }) })
  ] });
}
var NO_SAMPLE = { depth: null, latency: null, at: 0 };
function Shown3({ node: node2, found: found2, isLive }) {
  const { samples: all, flows, from, to } = found2;
  const write2 = (value) => depthOf(node2, value);
  const isKnown = all.some(({ depth }) => depth !== null);
  const height = (sample) => sample[isKnown ? "depth" : "latency"] ?? -1;
  const deepest = all.reduce((most, one) => height(one) > height(most) ? one : most, all[0] ?? NO_SAMPLE);
  const goDeepest = () => set(around(from + BigInt(Math.round(deepest.at)), 2n * 10n ** 8n));
  useKeys({ f: () => all.length && goDeepest() });
  useCopy(
    () => [`${exact(from)} to ${exact(to)}, deepest ${write2(deepest.depth)}`, ...flows.map((flow) => `${permille(flow.share)}  ${flow.flow ? flowText(flow.flow) : "unknown flow"}  longest wait ${duration(flow.longest)}`)].join("\n")
  );
  if (!all.length) {
    return a4(Empty, { children: [
      "No reports of this queue between ",
      exact(from),
      " and ",
      exact(to),
      ". Only watched packets are reported; it may not have been empty.",
      " ",
      a4("a", { href: href("/events", { kind: "queue-congestion", live: "1d" }), children: "Congestion of the last day" })
    ] });
  }
  const isBusy = flows.some(({ longest }) => (longest ?? 0) > (thresholds.value?.trigger_latency ?? 1e6));
  const seen = isLive ? {} : around((from + to + LATE) / 2n, to - from + LATE);
  const toFlow = ({ id }) => id ? href("/flow/" + id, seen) : void 0;
  const keyOf2 = ({ row }) => packetName(row);
  const toPacket = ({ row }) => packetAddress(row);
  const waited = [...all].sort((a5, b3) => (b3.latency ?? -1) - (a5.latency ?? -1)).slice(0, 15);
  return a4($, { children: [
    a4("p", { children: [
      "Deepest ",
      a4("strong", { children: write2(deepest.depth) }),
      ", longest wait ",
      a4("strong", { children: duration(waited[0]?.latency) }),
      ", of ",
      plural(all.length, "reported packet"),
      ".",
      " ",
      found2.isNodeClock ? "Times: the node's clock, aligned by the report with the least delay." : "Times: arrival at the collector, to about 1 ms; no node clock.",
      " ",
      isLive && `Shown: the last ${writeSpan((to - from) / SECOND * SECOND)}.`,
      " ",
      found2.isCut && "Only the first 40,000 reports are shown; choose a shorter time range."
    ] }),
    found2.episodes.some(({ isTruncated }) => isTruncated) && a4("p", { class: "notice", children: "The node used up its report quota during congestion. From then on (cross-hatched) reports are missing; the queue may still be congested." }),
    a4("p", { class: "leads", children: [
      a4("button", { onClick: goDeepest, title: "f", children: [
        "Go to the ",
        isKnown ? "deepest moment" : "longest wait"
      ] }),
      " ",
      found2.episodes.map((episode) => a4("span", { children: [
        " ",
        a4("a", { href: href("/event/" + episode.id), children: [
          "congestion of ",
          duration(episode.to - episode.from)
        ] })
      ] }, episode.id))
    ] }),
    isKnown ? a4($, { children: [
      a4(Lane, { found: found2, write: write2, levels: levelsOf(node2, found2, write2) }),
      a4(Depths, { found: found2, write: write2 })
    ] }) : a4("p", { class: "notice", children: "These reports contain no queue depth. The waits below are hop latencies." }),
    a4(Announced, { found: found2 }),
    a4(Table, { caption: "Flows in the queue, by reports", rows: flows.slice(0, 20), open: toFlow, columns: [
      { name: "Colour", cell: (flow) => a4(Swatch, { at: flows.indexOf(flow) }) },
      { name: "Flow", cell: (flow) => flow.flow ? a4(FlowLink, { flow: flow.flow, id: flow.id, params: seen }) : "unknown" },
      { name: "Share of reports", isNumber: true, cell: (flow) => permille(flow.share) },
      { name: "Reports", isNumber: true, cell: (flow) => count(flow.reports) },
      { name: "Median wait", isNumber: true, cell: (flow) => duration(flow.median) },
      { name: "Longest wait", isNumber: true, cell: (flow) => duration(flow.longest) },
      { name: "Role", cell: (flow) => !isBusy ? UNKNOWN : flow.share < 100 && (flow.longest ?? 0) > 1e6 ? "waits, sends little" : flow.share >= 200 ? "fills the queue" : UNKNOWN }
    ] }),
    a4(Table, { caption: "Packets that waited longest", rows: waited, keyOf: keyOf2, open: toPacket, columns: [
      { name: "Left at", cell: (sample) => a4("a", { href: toPacket(sample), children: exact(from + BigInt(Math.round(sample.at))) }) },
      { name: "Waited", isNumber: true, cell: (sample) => duration(sample.latency) },
      { name: "Depth", isNumber: true, cell: (sample) => write2(sample.depth) },
      { name: "Flow", cell: (sample) => flows[sample.flow]?.flow ? flowText(flows[sample.flow].flow) : "unknown" }
    ] })
  ] });
}
function levelsOf(node2, { samples: all }, write2) {
  const [depths, waits] = [depthThresholds(node2), thresholds.value];
  if (!waits) return [];
  const depthsOf2 = (is) => all.flatMap(({ depth, latency }) => depth !== null && latency !== null && is(latency) ? [depth] : []);
  const over = depthsOf2((latency) => latency > waits.trigger_latency);
  const under = depthsOf2((latency) => latency < waits.reset_latency).filter((depth) => depth > 0);
  const least = over.length ? over.reduce((a5, b3) => Math.min(a5, b3)) : null;
  const most = under.length ? under.reduce((a5, b3) => Math.max(a5, b3)) : null;
  const level = (name, set2, seen, why) => {
    if (set2 !== null && (seen === null || set2 <= seen)) return [{ name, depth: set2, told: `${name}: ${write2(Math.round(set2))}, as configured` }];
    return seen === null ? [] : [{ name, depth: seen, told: `${name}: ${write2(seen)}, ${why}` }];
  };
  return [
    ...level("trigger", depths.trigger, least, `the lowest depth at which packets waited more than ${duration(waits.trigger_latency)}`),
    ...level("reset", depths.reset, over.length ? most : null, `the highest depth at which packets waited less than ${duration(waits.reset_latency)}`)
  ];
}
function Announced({ found: { culprits } }) {
  const named2 = culprits.flatMap((event) => [
    ...event.detail.culprits.map((one) => ({ event, role: "culprit", flow: one.flow, bytes: one.bytes, share: one.share_permille })),
    ...event.detail.victims.map((one) => ({ event, role: "victim", flow: one.flow ?? one, bytes: one.bytes ?? null, share: one.share_permille ?? null }))
  ]);
  if (!named2.length) return null;
  const caption = "Culprits and victims, from events: whose bytes were ahead of the waiting packet";
  const to = ({ event }) => href("/event/" + event.id);
  return a4(Table, { caption, rows: named2.slice(0, 30), open: to, columns: [
    { name: "Event", cell: ({ event }) => a4("a", { href: href("/event/" + event.id), children: a4(Time, { at: event.last }) }) },
    { name: "Pattern", cell: ({ event }) => `${event.detail.pattern}, waited ${duration(event.detail.residence)}` },
    { name: "Role", cell: ({ role }) => role === "culprit" ? a4("strong", { children: "culprit" }) : "victim" },
    { name: "Flow", cell: ({ flow, event }) => a4(FlowLink, { flow, params: around(BigInt(event.last), 10n * SECOND) }) },
    { name: "Bytes", isNumber: true, cell: ({ bytes: size }) => bytes(size) },
    { name: "Share", isNumber: true, cell: ({ share }) => permille(share) },
    { name: "Coverage", isNumber: true, cell: ({ event }) => event.detail.coverage_permille === null ? UNKNOWN : permille(event.detail.coverage_permille) }
  ] });
}
var openPacket = (row) => go(packetAddress(row));
var packetAddress = (row) => row.flow_id === null ? reportAddress({ ...row, node_id: row.reporter, received_at: row.time }) : href("/flow/" + row.flow_id, { ...around(BigInt(row.time), 2n * SECOND), packet: packetName(row) });
function Swatch({ at }) {
  return at < FLOWS_SHOWN ? a4("span", { class: `flow f${at + 1}`, children: at + 1 }) : a4("span", { class: "flow f0", children: "others" });
}

// src/parts/decoder.tsx
var MAX_CAPTURE = 4 << 20;
var PAGE = 50;
function Decoder() {
  const [hex, setHex] = d2("");
  const [start, setStart] = d2("report");
  const [found2, setFound] = d2({});
  const [problem, setProblem] = d2("");
  const [isOver, setOver] = d2(false);
  const run = async (work) => {
    try {
      setFound(await work());
      setProblem("");
    } catch (error) {
      setProblem(error.message);
    }
  };
  const decode = (submitted) => {
    submitted.preventDefault();
    const init = { method: "POST", body: JSON.stringify({ hex, start }), headers: { "content-type": "application/json" } };
    void run(async () => ({ decoded: await ask("decode", init) }));
  };
  const read4 = (file2) => {
    if (!file2) return;
    const note = file2.size > MAX_CAPTURE ? `the first 4 MiB of ${shown(file2.name)}` : shown(file2.name);
    void run(() => page(file2.slice(0, MAX_CAPTURE), 1, note));
  };
  const drop = (event) => {
    event.preventDefault();
    setOver(false);
    read4(event.dataTransfer?.files[0]);
  };
  const drag = (event) => {
    event.preventDefault();
    setOver(true);
  };
  return a4("section", { class: `decoder${isOver ? " over" : ""}`, "aria-label": "Decode", onDrop: drop, onDragOver: drag, onDragLeave: () => setOver(false), children: [
    a4("h2", { children: "Decode bytes or a capture" }),
    a4("form", { onSubmit: decode, children: [
      a4("label", { children: [
        "Hexadecimal bytes, as any tool prints them",
        a4("textarea", { rows: 3, spellcheck: false, value: hex, onInput: (typed) => setHex(typed.currentTarget.value) })
      ] }),
      a4("p", { class: "choices", children: [
        a4("label", { children: [
          "Starting with",
          " ",
          a4("select", { value: start, onChange: (chosen) => setStart(chosen.currentTarget.value), children: [
            a4("option", { value: "report", children: "a report" }),
            a4("option", { value: "ethernet", children: "an Ethernet header" }),
            a4("option", { value: "ip", children: "an IP header" })
          ] })
        ] }),
        a4("button", { disabled: !hex.trim(), children: "Decode" }),
        a4("label", { children: [
          "or choose or drop a capture (pcap, pcapng) ",
          a4("input", { type: "file", onChange: (chosen) => read4(chosen.currentTarget.files?.[0]) })
        ] })
      ] })
    ] }),
    problem && a4("p", { class: "bad", role: "alert", children: shown(problem, 600) }),
    found2.decoded && a4(Bytes, { decoded: found2.decoded }),
    found2.capture && a4(Capture, { found: found2, more: (packet) => void run(() => page(found2.file, packet, found2.note)) })
  ] });
}
async function page(file2, packet, note) {
  const init = { method: "POST", body: file2, headers: { "content-type": "application/vnd.tcpdump.pcap" } };
  return { capture: await ask(`decode?limit=${PAGE}&packet=${packet}`, init), file: file2, note };
}
function Capture({ found: { capture, note }, more }) {
  const [chosen, choose] = d2(0);
  const reports = capture.reports;
  const report = reports[Math.min(chosen, reports.length - 1)];
  const caption = `${plural(reports.length, "datagram")}; the fields of the selected one are below`;
  const onFocus = (one) => choose(reports.indexOf(one));
  const isChosen = (one) => one === report;
  return a4($, { children: [
    a4("p", { children: [
      note,
      ": ",
      plural(capture.packets, "packet"),
      ", ",
      count(capture.datagrams),
      " to the report port, 32766. ",
      capture.error && a4("span", { class: "bad", children: shown(capture.error, 600) })
    ] }),
    report && a4($, { children: [
      a4(Table, { caption, rows: reports, onFocus, isChosen, columns: [
        { name: "Packet", isNumber: true, cell: (one) => count(one.packet) },
        { name: "Time", cell: (one) => one.time === "0" ? UNKNOWN : exact(BigInt(one.time)) },
        { name: "From", cell: (one) => a4("span", { class: "mono", children: one.source }) },
        { name: "To", cell: (one) => a4("span", { class: "mono", children: one.destination }) },
        { name: "Report of", cell: (one) => one.hw_id === null ? "not a report" : one.node_id === null ? "no node ID" : node(one.node_id) },
        { name: "hw_id", isNumber: true, cell: (one) => one.hw_id ?? UNKNOWN },
        { name: "Sequence", isNumber: true, cell: (one) => count(one.sequence) },
        { name: "Fault", cell: (one) => one.decoded.error ? shown(one.decoded.error.error) : "none" }
      ] }),
      a4("p", { children: capture.next !== null && a4("button", { onClick: () => more(capture.next), children: [
        "Next ",
        PAGE
      ] }) }),
      a4(Bytes, { decoded: report.decoded })
    ] })
  ] });
}

// src/views/reports.tsx
var PARTS = [
  ["accepted", "parsed and counted"],
  ["duplicate", "already accepted earlier"],
  ["malformed", "not a valid telemetry report"],
  ["shed", "dropped by the collector: queue full"]
];
function Reports() {
  const { isLive } = range();
  const asked = useAsk("ledger", (signal) => ask("ledger", { signal }), isLive ? 2e3 : void 0, isLive && totals.value?.lost);
  return a4($, { children: [
    a4("h1", { children: "Reports" }),
    a4(OnlyPresent, { what: "Counts" }),
    a4(Answer, { asked, children: (ledger) => a4(Ledger, { ledger }) }),
    a4(Decoder, {}),
    a4(Newest, {})
  ] });
}
function Ledger({ ledger: { total, streams, malformed, exports, refused_sources: refused } }) {
  const sum2 = PARTS.reduce((all, [name]) => all + total[name], 0);
  const isEven = sum2 === total.received;
  useCopy(() => [`${count(total.received)} received = ${PARTS.map(([name]) => `${count(total[name])} ${name}`).join(" + ")}`, `${count(total.lost)} lost`].join("\n"));
  return a4($, { children: [
    a4("section", { class: "balance-sheet", "aria-label": "Balance", children: [
      a4("p", { children: [
        a4("strong", { children: count(total.received) }),
        " ",
        total.received === 1 ? "datagram" : "datagrams",
        " received",
        " ",
        PARTS.map(([name], at) => a4("span", { children: [
          at ? " + " : isEven ? " = " : " ≠ ",
          a4("strong", { children: count(total[name]) }),
          " ",
          name
        ] }, name)),
        isEven ? "" : ` (sum ${count(sum2)}: one datagram is still being counted)`
      ] }),
      a4("div", { class: "balance-bar", "aria-hidden": "true", children: PARTS.map(([name], at) => total[name] ? a4("span", { class: `f${at + 1}`, style: { flexGrow: Math.max(total[name] / total.received, 4e-3) } }, name) : null) }),
      a4(Facts, { facts: [
        ...PARTS.map(([name, about], at) => [name, a4($, { children: [
          a4("i", { class: `key f${at + 1}` }),
          " ",
          count(total[name]),
          ", ",
          permille(total.received ? 1e3 * total[name] / total.received : null),
          ": ",
          about
        ] })]),
        ["lost", a4("span", { class: total.lost ? "bad" : "", children: [
          count(total.lost),
          " sent but not received, and ",
          plural(total.lost_unknown, "gap"),
          " of unknown size"
        ] })],
        ["kernel dropped", a4("span", { class: total.kernel_dropped ? "bad" : "", children: [
          count(total.kernel_dropped),
          " before the collector could read them"
        ] })],
        ["individual reports", `${count(total.accepted_reports)} in accepted datagrams`],
        ["stored", `${plural(total.stored, "individual report")}, ${count(total.store_failed)} failed`],
        ["reordered, late", `${count(total.reordered)}, ${count(total.late)}`]
      ] })
    ] }),
    streams.length ? a4(Streams, { streams }) : a4(Empty, { children: [
      "No reports received yet. Nodes send them to the address in ",
      a4("code", { children: "[receive] listen" }),
      "; ",
      a4("code", { children: "inband demo --report-to ADDRESS:32766" }),
      " sends test reports."
    ] }),
    malformed.length > 0 && a4(Table, { caption: "Malformed datagrams, by fault", rows: malformed, columns: [
      { name: "Header", cell: (fault) => shown(fault.header) },
      { name: "Fault", cell: (fault) => shown(fault.fault) },
      { name: "Datagrams", isNumber: true, cell: (fault) => count(fault.count) }
    ] }),
    exports.length > 0 && a4(Table, { caption: "Outputs", rows: exports, columns: [
      { name: "Output", cell: (output) => shown(output.output) },
      { name: "Offered", isNumber: true, cell: (output) => count(output.offered) },
      { name: "Delivered", isNumber: true, cell: (output) => count(output.exported) },
      { name: "Failed", isNumber: true, cell: (output) => count(output.export_failed) },
      { name: "Waiting", isNumber: true, cell: (output) => count(output.waiting) },
      { name: "Problem", cell: (output) => shown(output.trouble ?? "none") }
    ] }),
    refused.length > 0 && a4(Table, { caption: "Refused: addresses with too many node IDs", rows: refused, columns: [
      { name: "Address", cell: (source) => shown(source.address) },
      { name: "Latest node ID", isNumber: true, cell: (source) => source.node_id },
      { name: "Datagrams", isNumber: true, cell: (source) => count(source.datagrams) }
    ] })
  ] });
}
function Newest() {
  const [when, every] = timeAsked();
  const [of, event, most] = [param("node"), param("event"), param("many") ? 200 : 20];
  const wanted = `${/^\d{1,10}$/.test(of) ? `&node=${of}` : ""}${event ? `&event=${encodeURIComponent(event)}` : ""}`;
  const time = () => event ? "" : `&from=${range().from}&to=${range().to}`;
  const asked = useAsk(`newest ${when} ${wanted} ${most}`, (signal) => ask(`reports?limit=${most}${wanted}${time()}`, { signal }), every);
  return a4($, { children: [
    a4("h2", { children: "Stored raw reports" }),
    a4("p", { class: "choices", children: [
      a4("label", { children: [
        "Node ",
        a4(Field, { size: 10, inputMode: "numeric", value: of, take: (node2) => set({ node: node2 }) })
      ] }),
      a4("label", { children: [
        "Evidence of event ",
        a4(Field, { size: 18, value: event, take: (event2) => set({ event: event2 }) })
      ] })
    ] }),
    a4(Answer, { asked, children: (list) => a4(Kept2, { list }) }),
    asked.data?.next && !param("many") && a4("p", { children: a4("button", { onClick: () => set({ many: "1" }), children: "Show 200" }) })
  ] });
}
function Field({ value, take: take2, ...rest }) {
  const [typed, setTyped] = d2(value);
  const [seen, setSeen] = d2(value);
  if (seen !== value) {
    setSeen(value);
    setTyped(value);
  }
  return a4(
    "input",
    {
      ...rest,
      placeholder: "any",
      value: typed,
      onInput: (event) => setTyped(event.currentTarget.value),
      onChange: (event) => take2(event.currentTarget.value.trim())
    }
  );
}
function Kept2({ list }) {
  const columns3 = list.reports;
  const rows = columns3.time.map((time, at) => {
    const of = (name) => columns3[name][at];
    return { time: BigInt(list.base) + BigInt(time), node: of("node"), hw_id: of("hw_id"), sequence: of("sequence"), version: of("version"), length: of("length"), source: of("source"), events: of("events"), hex: of("hex") };
  });
  const to = (row) => row.node === null ? void 0 : href(`/report/${row.node}/${row.hw_id}/${row.sequence}`, { at: String(row.time), span: "2s" });
  if (!rows.length) {
    return a4(Empty, { children: [
      "No raw reports stored for this time range. Kept are the newest datagrams",
      list.recent_from ? a4($, { children: [
        " (since ",
        a4(Time, { at: BigInt(list.recent_from) }),
        ")"
      ] }) : "",
      " and those that are evidence of an event. ",
      a4(LastDay, { of: "/reports" })
    ] });
  }
  const caption = `${plural(rows.length, "datagram")}${list.next ? " (there are more)" : ""}, latest first`;
  const keyOf2 = (row) => `${row.time} ${row.node} ${row.hw_id} ${row.sequence}`;
  return a4(Table, { caption, rows, keyOf: keyOf2, open: to, columns: [
    { name: "Arrived", cell: (row) => a4(Time, { at: row.time }) },
    { name: "Report of", cell: (row) => row.node === null ? a4("code", { title: "not a report", children: shown(row.hex, 48) }) : a4("a", { href: to(row), children: [
      row.node === 4294967295 ? "no node ID" : node(row.node),
      " ",
      count(row.sequence)
    ] }) },
    { name: "hw_id", isNumber: true, cell: (row) => row.node === null ? "–" : row.hw_id },
    { name: "Version", cell: (row) => row.node === null ? "not a report" : row.version },
    { name: "Length", isNumber: true, cell: (row) => bytes(row.length) },
    { name: "From", cell: (row) => a4("span", { class: "mono", children: row.source }) },
    { name: "Evidence of", cell: (row) => row.events.map((id) => a4("a", { href: href("/event/" + id), children: [
      id,
      " "
    ] }, id)) }
  ] });
}
function Streams({ streams }) {
  const sorted = [...streams].sort((a5, b3) => b3.lost - a5.lost || a5.node_id - b3.node_id || a5.hw_id - b3.hw_id).slice(0, 200);
  const most = sorted.length < streams.length ? count(sorted.length) + " of " : "";
  const caption = `${most}${plural(streams.length, "stream")}, most lost first`;
  const keyOf2 = (stream) => `${stream.node_id} ${stream.hw_id} ${stream.session} ${stream.source ?? ""}`;
  const to = (stream) => href("/map", { sel: String(stream.node_id) });
  return a4(Table, { caption, rows: sorted, keyOf: keyOf2, open: to, columns: [
    { name: "Node", cell: (stream) => a4("a", { href: to(stream), children: stream.node_id === 4294967295 ? `no node ID, from ${shown(stream.source)}` : node(stream.node_id) }) },
    { name: "hw_id", isNumber: true, cell: (stream) => stream.hw_id },
    { name: "Sent to", cell: (stream) => a4("span", { class: "mono", children: stream.session }) },
    { name: "Version", cell: (stream) => stream.version },
    { name: "Accepted", isNumber: true, cell: (stream) => count(stream.accepted) },
    { name: "Lost", isNumber: true, cell: (stream) => a4("span", { class: stream.lost ? "bad" : "", children: count(stream.lost) }) },
    { name: "Loss", isNumber: true, cell: (stream) => permille(stream.accepted + stream.lost ? 1e3 * stream.lost / (stream.accepted + stream.lost) : null) },
    { name: "Duplicate", isNumber: true, cell: (stream) => count(stream.duplicate) },
    { name: "Reordered", isNumber: true, cell: (stream) => count(stream.reordered) },
    { name: "Late", isNumber: true, cell: (stream) => count(stream.late) }
  ] });
}

// src/main.tsx
var ENTRIES = [
  { path: "/", name: "Now", key: "n", isHere: (first2) => first2 === "" },
  { path: "/map", name: "Map", key: "m", isHere: (first2) => first2 === "map" },
  { path: "/flows", name: "Flows", key: "f", isHere: (first2) => first2.startsWith("flow") },
  { path: "/queues", name: "Queues", key: "q", isHere: (first2) => first2.startsWith("queue") && first2 !== "query" },
  { path: "/events", name: "Events", key: "e", isHere: (first2) => first2.startsWith("event") || first2 === "drops" },
  { path: "/reports", name: "Reports", key: "r", isHere: (first2) => first2.startsWith("report") },
  { path: "/query", name: "Query", key: "s", isHere: (first2) => first2 === "query" }
];
function View({ path }) {
  const [first2 = "", ...rest] = path;
  switch (first2) {
    case "":
      return a4(Now, {});
    case "drops":
      return a4(Drops, {});
    case "map":
      return a4(Map2, {});
    case "queues":
      return a4(Queues, {});
    case "queue":
      return a4(Queue, { node: rest[0] ?? "", port: rest[1] ?? "-", queue: rest[2] ?? "" }, rest.join("/"));
    case "reports":
      return a4(Reports, {});
    case "report":
      return a4(Report, { node: rest[0] ?? "", hw: rest[1] ?? "0", sequence: rest[2] ?? "" }, rest.join("/"));
    case "query":
      return a4(Query, {});
    case "flows":
      return a4(Flows2, {});
    case "flow":
      return a4(Flow, { name: rest[0] ?? "" }, rest[0]);
    case "events":
      return a4(Events, {});
    case "event":
      return a4(Event, { id: rest[0] ?? "" }, rest[0]);
    default:
      isReady.value = true;
      return a4($, { children: [
        a4("h1", { children: "No such view" }),
        a4(Empty, { children: [
          "There is no view “",
          shown("/" + path.join("/")),
          "”. Choose one from the list of views; the time range is kept."
        ] })
      ] });
  }
}
function Page() {
  const path = address.value.path;
  const main = T2(null);
  const name = ENTRIES.find(({ isHere }) => isHere(path[0] ?? ""))?.name ?? "inband";
  const isFirst = T2(true);
  A2(() => {
    if (!isFirst.current && document.activeElement === document.body) main.current?.focus({ preventScroll: true });
    isFirst.current = false;
    document.title = `${name} · inband`;
    return () => {
      isReady.value = false;
    };
  }, [path.join("/")]);
  return a4($, { children: [
    a4("a", { class: "skip", href: "#main", onClick: (event) => (event.preventDefault(), main.current?.focus()), children: "Skip to the view" }),
    a4(Strip, {}),
    a4(Rail, { entries: ENTRIES }),
    a4(TimeBar, {}),
    a4("main", { id: "main", ref: main, tabIndex: -1, "data-ready": isReady.value ? "" : void 0, children: [
      a4(TokenWanted, {}),
      a4(View, { path })
    ] }),
    a4(Help, {}),
    a4(Said, {})
  ] });
}
if (isExact() && "any" in AbortSignal) {
  document.addEventListener("click", catchLinks);
  document.addEventListener("keydown", onKey);
  Q(a4(Page, {}), document.getElementById("page"));
  token.subscribe(() => void (learn(), learnAbout()));
  setInterval(() => void (learn(), learnAbout()), 15e3);
  void follow();
} else {
  document.getElementById("page").textContent = "This browser is too old. Use Chrome 116, Firefox 135, Safari 18.4 or later.";
}
